/** What `verify` says, in Chinese. */
import type { Seen, verifyEn } from './verify-en.ts'

export const verifyZh: typeof verifyEn = {
  ok: (name, events, skipped) => `${name}：${events} 条事件，全部完好${unknown(skipped)}`,
  legal: (name, events, skipped) =>
    `${name}：${events} 条事件，条条合法${unknown(skipped)}；文件不防改动：事件所说的内容可能被改过`,
  damaged: (name, from, reason) => `${name}：自第 ${from} 条事件起受损：${reason}`,
  broken: (name, where, rule, problem) => `${name}：${where}违反 ${rule}：${problem}`,
  where: ({ line, seq, type }) => {
    const event = `第 ${seq} 条事件${type === null ? '' : `，${type}`}`
    return line === null ? event : `第 ${line} 行（${event}）`
  },
  more: (wanted, next) => `  应为：${wanted}\n  下一步：${next}`,
  wanted: {
    empty: '逐行的 JSON：首行为文件头或 session.created',
    encoding: '不带字节顺序标记、未经压缩的 UTF-8 文本',
    store: '逐行的 JSON，如 `session export` 所写',
    json: '每行一个 JSON 对象',
    blank: '每行一个 JSON 对象；空行只能在末尾',
    cut: '完整的最后一行',
    long: '每行最多 64 MB',
    header: '只在首行有一个文件头，如 `session export` 所写',
    newer: '本版本能读的格式',
    count: '事件数与文件头所写一致',
    shape: '该事件的字段如 spec/schema 所定',
    damaged: '当初写入的字节',
  },
  next: {
    empty: () => '确认是否选对了文件；请重新导出会话',
    encoding: ({ isPacked }) => `${isPacked ? '请解压' : '请另存为 UTF-8'}，然后再检查`,
    store: () => '用 `turnstep verify --store FILE` 检查其中的会话',
    json: reread,
    blank: () => '如果该处没有缺失，删去空行；否则请重新导出会话',
    cut: reread,
    long: () => '确认它是不是日志',
    header: () => '删去该处不是事件的内容，或重新导出会话',
    newer: () => '升级 turnstep',
    count: ({ events }) => `文件不完整或被改动：请重新导出会话；其中 ${events} 条事件完好`,
    shape: rewrite,
    rule: rewrite,
    damaged: ({ events }) =>
      `以工作方式打开会隔离该部分，从第 ${events} 条事件之后继续；\`session export\` 可保存在它之前的部分`,
  },
  none: '没有可检查的会话',
  folder: (path) => `“${path}”是文件夹：请写出其中的文件，或不写名称以检查各会话`,
  noFile: (path) => `没有文件“${path}”：请核对路径，或用 \`turnstep session export 会话 -o 文件\` 导出一个`,
}

function unknown(skipped: number): string {
  return skipped === 0 ? '' : `；其中 ${skipped} 条的类型在本版本中未知，已略过`
}

function reread({ events }: Seen): string {
  return `文件被截断或改动：请重新导出或复制${before(events)}`
}

function rewrite({ events, isFile }: Seen): string {
  return isFile
    ? `多半是文件被改动或丢了行：请重新导出；若仍然如此，则写入该事件的程序有缺陷：请附日志反馈${before(events)}`
    : `写入该事件的程序有缺陷：请附日志反馈${before(events)}`
}

function before(events: number): string {
  return events === 0 ? '' : `；在它之前的 ${events} 条事件完好`
}
