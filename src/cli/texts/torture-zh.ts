/** What `torture` says, in Chinese. */
import type { ComplaintTexts, tortureEn } from './torture-en.ts'

/** Node's names for what keeps a process alive. */
const HANDLES: Readonly<Record<string, string>> = {
  Timeout: '定时器',
  Immediate: '立即任务',
  ProcessWrap: '子进程',
  TCPServerWrap: '服务器',
  PipeServerWrap: '管道服务器',
  FSEventWrap: '文件监视',
  StatWatcher: '文件监视',
  UDPWrap: 'UDP 套接字',
}

const complaint: ComplaintTexts = {
  doubled: ({ tool, call, times }) => `${tool}（${call}）是写操作，却执行了 ${times} 次`,
  'key-changed': ({ tool, call, keys }) => `${tool}（${call}）先后拿到不同的键：${keys.join('、')}`,
  unrecorded: ({ tool, call }) => `${tool}（${call}）执行了，日志里却没有它的开始`,
  'input-lost': ({ input }) => `${input} 已被接收，却丢失了`,
  'input-doubled': ({ input, times }) => `${input} 进入了 ${times} 次`,
  'input-waiting': ({ input, lane }) => `已无事可做，${input}（${lane}）却还在排队`,
  'log-damaged': ({ seq, problem }) => `日志自事件 ${seq} 起受损：${problem}`,
  'rule-broken': ({ seq, rule, problem }) => `事件 ${seq} 违反 ${rule}：${problem}`,
  'request-broken': ({ seq, at, problem }) => `事件 ${seq} 的请求没有服务方会接受：第 ${at} 条消息：${problem}`,
  'not-at-rest': ({ status }) => (status === 'late' ? '会话没有按时停下' : `会话没有停下：${status}`),
  'not-resumed': ({ process, problem }) => `进程 ${process} 无法继续：${problem}`,
  fault: ({ process, problem }) => `进程 ${process} 报告了故障：${problem}`,
  'call-changed': ({ tool, call, was, is }) => `${tool}（${call}）以 ${is} 结束；不受干扰时为 ${was}`,
  'turn-changed': ({ turn, was, is }) => `第 ${turn} 轮以 ${is} 结束；不受干扰时为 ${was}`,
  'story-changed': ({ was, is }) => `运行走了另一条路：“${is}”，不受干扰时为“${was}”`,
  'agent-changed': ({ gone, added, altered, instructions }) =>
    `重启后 agent 变了：${[
      ...(gone.length > 0 ? [`少了 ${gone.join('、')}`] : []),
      ...(added.length > 0 ? [`多了 ${added.join('、')}`] : []),
      ...(altered.length > 0 ? [`${altered.join('、')} 有改动`] : []),
      ...(instructions ? ['系统文本不同'] : []),
    ].join('；')}`,
  'lease-left': ({ owner }) => `${owner} 仍占着会话`,
  'body-left': ({ tool, call }) => `${tool}（${call}）已被要求停止，其余都已关闭，它还在执行`,
  'handle-left': ({ handle, count }) => `进程里没有关闭的：${HANDLES[handle] ?? handle} × ${count}`,
  'process-left': ({ pid, command }) => `运行结束后进程 ${pid} 还活着：${command}`,
  'file-left': ({ path }) => `留下了 ${path}，不受干扰时没有这个文件`,
  'opened-on-load': ({ path }) =>
    `模块在加载时就打开并推进一个会话（${path}）：每个进程都会再来一次，而这个会话不在检查之列；请从不打开会话的模块导出 agent`,
  'never-ran': ({ tool, why }) =>
    why === 'not-called'
      ? `没有调用 ${tool}，所以没有考验到它：请用 --script 给出会调用它的脚本`
      : `${tool} 从未执行（${why}），所以没有考验到它：请用 --script 给出它能接受的参数`,
  check: ({ text }) => text,
}

export const tortureZh: typeof tortureEn = {
  message: '把每个工具各用一次，然后说说结果。',
  noAgent: (path) => `${path} 没有导出 agent：请写 \`export default agent({ … })\`，或导出一个创建它的函数`,
  noModel: (path) => `${path}：agent 没有自己的模型，请去掉 --own-model`,
  badMessages: (path) => `${path}：\`messages\` 不是文本列表`,
  badScript: (path) => `${path} 不是脚本：请给出步骤列表、函数或模型`,
  noCheck: (path) => `${path} 没有导出检查函数：请写 \`export default (run) => []\``,
  unreadable: (path, why) => `无法加载 ${path}：${why}`,
  doesTooMuch: (path, code) =>
    `${path} 在加载时打开会话或创建模型，在这里做不到（${code}）。两者都由 torture 提供，也不会调用真实的模型：请从什么都不打开的模块导出 agent，模型写名称即可`,
  typescript: (path, version) =>
    `${path}：Node ${version} 不能运行 TypeScript（22.18 起可以）；请编译后给出 .js 文件，或使用更新的 Node`,
  noFile: (path) => `没有文件“${path}”`,
  badMoment: (text) => `“${text}”不是时刻；时刻写作 after-append/3、inside/工具名/1，或用 + 连接两个`,
  badCount: (flag, text) => `${flag} 的值是“${text}”；请给出从 1 起的整数`,
  failed: {
    late: (seconds) => `不受干扰时，agent 也没有在 ${seconds} 秒内停下；请用 --timeout 给更多时间，或用更短的 --script`,
    ended: '不受干扰时，agent 的进程自己退出了',
  },
  printed: (text) => `它输出了：\n${text}`,

  agent: (module, name, tools, model) => `${module}：agent ${name}，${tools} 个工具，${model}`,
  models: { default: '由内置脚本把每个工具各调用一次', script: '按脚本回答', own: '由它自己的模型回答' },
  undisturbed: (turns, steps, calls, moments) =>
    `不受干扰时：${turns}；${steps} 步，${calls} 次调用，${moments} 个时刻`,
  notAlike: '两次不受干扰的运行结果不同：agent 不是确定的，所以不与它们比较，只就每次运行本身判断',
  first: '先不受干扰地运行',
  progress: (runs, of, failed, moment) => `${runs}/${of}${failed === 0 ? '' : ` · ${failed} 次失败`} · ${moment}`,
  columns: { moment: '在何处杀死', runs: '次数', passed: '通过', failed: '失败', missed: '未遇到' },
  rows: {
    'before-append': '提交之前',
    'after-append': '提交之后',
    'before-put': '接收输入之前',
    'after-put': '接收输入之后',
    'after-claim': '已领取输入',
    'before-model': '调用模型之前',
    'model-output': '模型回答途中',
    'before-body': '执行工具之前',
    'after-body': '结果已有、尚未记录',
    'before-hook': '钩子之前',
    'before-release': '交还租约之前',
    'after-release': '交还租约之后',
  },
  inTool: (tool) => `${tool} 执行途中`,
  twice: (row) => `${row}，再杀一次`,
  verdicts: { passed: '通过', failed: '失败', missed: '未遇到' },
  note: (text) => `提示：${text}`,
  hit: (moment, event, seq) => `${moment}：当时日志停在事件 ${seq}，${event}`,
  nothing: '日志为空',
  missed: (moments) => `没有遇到，所以什么也没证明：${moments}`,
  alsoAt: (moments) => `在此也一样：${moments}`,
  again: (command) => `重现：${command}`,
  kept: (folder) => `保留：${folder}`,
  summary: ({ passed, failed, missed }, kills, s) =>
    `${passed} 个通过，${failed} 个失败，${missed} 个未遇到；${s} 秒内杀死 ${kills} 次`,
  nothingHit: '没有命中任何时刻，所以什么也没证明',
  complaint,
}
