/**
 * `nrs_policies`, parsed and printed: policy of each queue and its number of RPCs.
 *
 * Source: spec/lustre 3.1. The blank first line, the `%-20d` padding and the blank line after each policy are part of it.
 */
import type { ByteText, SkippedLine } from './text.ts'

/** Regular requests, and the high-priority ones of services that have such a queue. */
export type Queue = 'reg' | 'hp'

export const QUEUE_TITLES: Readonly<Record<Queue, string>> = {
  reg: 'regular_requests:',
  hp: 'high_priority_requests:',
}

export type PolicyState = 'invalid' | 'stopped' | 'stopping' | 'starting' | 'started'

export interface PolicyStatus {
  readonly queue: Queue
  /** `fifo`, `tbf`, ... */
  readonly name: string
  /** The argument, for example `jobid+opcode`; empty for none. */
  readonly arg: string
  readonly state: string
  readonly fallback: boolean
  /** RPCs queued in the policy, and RPCs dispatched and in service; sums over CPTs. */
  readonly queued: number
  readonly active: number
}

/** Formats the value of nrs_policies for the given policies, in order, grouped by queue. */
export function formatNrsPolicies(policies: readonly PolicyStatus[]): string {
  const padded = (n: number): string => String(n).padEnd(20)
  let out = ''
  let queue: Queue | undefined
  for (const p of policies) {
    if (p.queue !== queue) {
      queue = p.queue
      out += `\n${QUEUE_TITLES[queue]}\n`
    } else out += '\n'
    out +=
      `  - name: ${p.name}${p.arg === '' ? '' : ` ${p.arg}`}\n    state: ${p.state}\n` +
      `    fallback: ${p.fallback ? 'yes' : 'no'}\n    queued: ${padded(p.queued)}\n    active: ${padded(p.active)}\n`
  }
  return `${out}\n`
}

/** Parses the value of nrs_policies; unknown lines are reported and skipped. */
export function parseNrsPolicies(text: ByteText): { policies: PolicyStatus[]; skipped: SkippedLine[] } {
  const policies: PolicyStatus[] = []
  const skipped: SkippedLine[] = []
  let queue: Queue = 'reg'
  let open: { -readonly [K in keyof PolicyStatus]: PolicyStatus[K] } | undefined
  text.split('\n').forEach((raw, i) => {
    const line = raw.trim()
    if (line === '') return
    if (line === QUEUE_TITLES.reg || line === QUEUE_TITLES.hp) {
      queue = line === QUEUE_TITLES.hp ? 'hp' : 'reg'
      return
    }
    const name = /^- name: (\S+)(?: (.*))?$/.exec(line)
    if (name) {
      open = { queue, name: name[1] ?? '', arg: name[2] ?? '', state: '', fallback: false, queued: 0, active: 0 }
      policies.push(open)
      return
    }
    const field = /^(state|fallback|queued|active): (\S+)$/.exec(line)
    if (!field || !open) {
      skipped.push({ line: i + 1, reason: 'not a policy nor a field of one' })
      return
    }
    const value = field[2] as string
    if (field[1] === 'state') open.state = value
    else if (field[1] === 'fallback') open.fallback = value === 'yes'
    else if (/^\d+$/.test(value)) open[field[1] as 'queued' | 'active'] = Number(value)
    else skipped.push({ line: i + 1, reason: `${field[1]} is not a number` })
  })
  return { policies, skipped }
}

/** Returns the policy that schedules a queue: the started one that is not the fallback, else the fallback. */
export function primaryPolicy(policies: readonly PolicyStatus[], queue: Queue): PolicyStatus | undefined {
  const started = policies.filter((p) => p.queue === queue && p.state === 'started')
  return started.find((p) => !p.fallback) ?? started[0]
}
