/** What must hold, for the rules of the contract that a log can break: what `verify` says was wanted. `spec/README.md` has all of it. */
import type { Locale } from '../../runtime/wording.ts'

/** By the number of the rule. */
export const RULE_TEXTS: Readonly<Record<string, Readonly<Record<Locale, string>>>> = {
  L1: {
    en: 'the first event is session.created, and each further one has the next seq',
    zh: '第一条事件是 session.created，其后每条的 seq 依次加一',
  },
  L5: { en: 'every line is whole and can be read', zh: '每一行都完整且可读' },
  L6: { en: 'an event of a format and of a form that is known here', zh: '事件的格式与字段为本版本所知' },
  I1: { en: 'an input enters once', zh: '每条输入只进入一次' },
  I4: { en: 'inputs enter at a gate of an open turn', zh: '输入只在进行中的轮次的闸口进入' },
  I6: { en: 'an input is settled once', zh: '每条输入只了结一次' },
  I9: { en: 'the queue is released between turns', zh: '队列只在两个轮次之间放行' },
  I13: {
    en: 'an abort belongs to an open turn, and is asked once before it ends so',
    zh: '中止属于进行中的轮次，且须先请求一次',
  },
  T1: {
    en: 'one turn and one step at a time, each with one start and one end',
    zh: '同时只有一个轮次、一步，各有一始一终',
  },
  T3: {
    en: 'what was cut, failed or is not finished is never called completed',
    zh: '被截断、失败或未完成的，不得称为完成',
  },
  T4: { en: 'the step limit of the turn holds on every path', zh: '本轮的步数上限在每条路径上都有效' },
  T5: {
    en: 'an end is vetoed between steps, and as often as the turn allows',
    zh: '否决结束只在两步之间，且不超过本轮允许的次数',
  },
  T7: {
    en: 'after an abort nothing starts, and the turn ends as aborted',
    zh: '中止之后不再开始任何事，本轮以中止结束',
  },
  T10: { en: 'one model call per attempt, numbered from 1 in its step', zh: '每次尝试一次模型调用，在该步内从 1 编号' },
  T11: { en: 'a step is refused before its model is asked', zh: '拒绝一步须在询问模型之前' },
  C1: { en: 'a call has the id that follows from turn, step and index', zh: '调用的 id 由轮次、步、序号得出' },
  C2: {
    en: 'a reply carries its calls, and each gets exactly one outcome that fits what it has been through',
    zh: '回复带着它的调用，每个调用恰有一个与其经历相符的结果',
  },
  C3: {
    en: 'a call that was requested or approved starts, numbered from 1',
    zh: '只有已请求或已批准的调用才开始，从 1 编号',
  },
  C4: {
    en: 'a write starts once; other calls start again only under a later lease',
    zh: '写入只开始一次；其他调用只能在更晚的租约下再次开始',
  },
  C5: { en: 'a late outcome is of a call that was written off', zh: '迟到的结果须属于已被放弃等待的调用' },
  C6: { en: 'calls that conflict start in the order of the model', zh: '相互冲突的调用按模型给出的次序开始' },
  C8: {
    en: 'a call of a cut reply, or without readable arguments, never starts',
    zh: '回复被截断或参数不可读的调用不得开始',
  },
  C12: { en: 'a turn ends after its step has ended', zh: '轮次在其最后一步结束之后才结束' },
  A2: {
    en: 'a question is open, answered once, and what runs is what was approved',
    zh: '问题须仍未答复且只答复一次，运行的就是被批准的',
  },
  A4: { en: 'a call that runs may be deferred', zh: '只有运行中的调用可以延后' },
  G1: { en: 'a child is spawned by a call that runs', zh: '子会话由运行中的调用产生' },
  G2: { en: 'the agent is switched between the steps of a turn', zh: '只在轮次的两步之间更换 Agent' },
  X1: {
    en: 'epochs are counted between steps, each named by the hash of its content, and a request holds the whole context',
    zh: '纪元在两步之间依次编号，各以其内容的哈希命名；请求包含整个上下文',
  },
  X3: {
    en: 'a compaction shrinks a range that is there, between steps, and parts no call from its result',
    zh: '压缩只在两步之间缩短确有的范围，不拆开调用与其结果',
  },
  X8: { en: 'a message says something', zh: '消息须有内容' },
  W1: {
    en: 'no fence is lower than the one before, and a model call is answered under its own',
    zh: '栅栏号不减小，模型调用须在其自身的租约下应答',
  },
}
