/**
 * Events on a server between the recorded commands.
 *
 * The recorded commands are a part of those that ran: policies were switched between scenes, and two of the three files lack
 * steps of a scene. A step that is missing from a file is taken from the development line's, where the same script ran.
 */
import type { CorpusRecord } from './records.ts'

const IO = 'lctl set_param ost.OSS.ost_io'
const policy = (type: string): string => `${IO}.nrs_policies='${type}'`

const rule = (value: string): string => `${IO}.nrs_tbf_rule='${value}'`

/** Steps that are no commands: RPCs of the job ga.0 arrive; the jobs that the next answer lists continue. */
export const GO_ON = 'continue'
const queue = (rpcs: number): string => `queue ${rpcs}`

const CLEAR_JOBS = "lctl set_param '*.*.job_stats=clear'"
const READ_JOBS = "lctl get_param '*.*.job_stats'"
const CLEAR_STATS = [
  '*.*.*.stats',
  'obdfilter.*.stats',
  'mdt.*.md_stats',
  '{osc,mdc,osd-*}.*.{rpc_stats,brw_stats}',
  '{obdfilter,mdt}.*.exports.*.stats',
].map((name) => `lctl set_param '${name}=clear'`)

/** Types of the scenes `nrs-tbf-TYPE-*`. */
const TYPES = ['nid', 'jobid', 'opcode', 'uid', 'gid', 'projid', 'jobid_opcode', 'nid_uid', 'generic']
const typeText = (type: string): string => (type === 'generic' ? '' : ` ${type.replace('_', '+')}`)

/** Commands that ran right before a record, by its id. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    TYPES.map((type) => [`nrs-tbf-${type}-rule0`, [policy('fifo'), policy(`tbf${typeText(type)}`)]]),
  ),
  'nrs-regonly-set': [policy('fifo')],
  'nrs-hponly-set': [policy('fifo')],
  'nrs-switch-1': [policy('fifo')],
  'nrs-crrn-params': [policy('fifo'), policy('crrn')],
  'nrs-delay-params': [policy('fifo'), policy('delay')],
  'nrs-fifo-params': [policy('fifo')],
  'err-get-nosuch': [policy('tbf nid')],
  'err-rule-ok': [policy('fifo'), policy('tbf nid')],
  'js-clear-echo': [policy('fifo')],
  'js-cleared-ost-js': [CLEAR_JOBS],
  ...Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`jobname-${i}-js`, [CLEAR_JOBS]])),
  'js-many-ost-js': [CLEAR_JOBS],
  'js-expired': ["lctl set_param '*.*.job_cleanup_interval=20'", 'sleep 15', GO_ON, 'sleep 10', READ_JOBS],
  'js-expired2': ['sleep 60', READ_JOBS],
  'stats-zero-ost_io': CLEAR_STATS,
  // A class takes three RPCs at once; the others wait.
  'stop-throttled-pol': [
    policy('fifo'),
    policy('tbf jobid'),
    rule('start r jobid={ga.0} rate=1'),
    queue(3 + 64),
    'sleep 0',
  ],
  'typeswitch-hang-rule': [
    policy('tbf jobid'),
    rule('start r jobid={ga.0} rate=5'),
    queue(3 + 8),
    'sleep 0',
    policy('tbf nid'),
    queue(1),
    'sleep 1',
  ],
  'stuck-pol': [
    policy('tbf jobid'),
    rule('start r jobid={ga.0} rate=2'),
    queue(3 + 9),
    'sleep 0',
    policy('tbf nid'),
    policy('fifo'),
    policy('tbf jobid'),
  ],
  'stuck-pol2': [policy('orr')],
}

/** Writes change the state that later answers show; reads do not. */
const isWrite = (r: CorpusRecord): boolean =>
  r.user === 'root' && (/^lctl set_param /.test(r.command) || /^printf .* > /.test(r.command))

const sceneOf = (id: string): string => id.replace(/-.*$/s, '')

export interface Step {
  /** Commands to run first, whose answers were not recorded. */
  readonly unrecorded: readonly string[]
  readonly record: CorpusRecord
}

/**
 * The commands of one file with what ran between them.
 *
 * @param full  the file in which no step of a scene is missing.
 */
export function stepsOf(records: readonly CorpusRecord[], full: readonly CorpusRecord[]): Step[] {
  const own = new Set(records.map((r) => r.id))
  /** Steps of the full file that are still to come, by scene. */
  const ahead = new Map<string, CorpusRecord[]>()
  for (const r of full) {
    const scene = sceneOf(r.id)
    const list = ahead.get(scene)
    if (list) list.push(r)
    else ahead.set(scene, [r])
  }
  /** Missing steps of a scene up to a record, or to its end. */
  const missing = (scene: string, until?: string): string[] => {
    const list = ahead.get(scene) ?? []
    const to = until === undefined ? list.length : list.findIndex((r) => r.id === until)
    if (to < 0) return until === undefined ? [] : [...(BEFORE[until] ?? [])]
    return list.splice(0, until === undefined ? to : to + 1).flatMap((r) => {
      const before = BEFORE[r.id] ?? []
      if (own.has(r.id)) return r.id === until ? before : []
      return [...before, ...(isWrite(r) ? [r.command] : [])]
    })
  }
  let last = ''
  return records.map((record, i) => {
    const scene = sceneOf(record.id)
    // A scene that another one interrupts continues later.
    const isOver = last !== scene && !records.slice(i).some((r) => sceneOf(r.id) === last)
    const rest = isOver ? missing(last) : []
    last = scene
    return { unrecorded: [...rest, ...missing(scene, record.id)], record }
  })
}
