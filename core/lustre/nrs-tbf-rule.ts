/**
 * `nrs_tbf_rule`, printed and parsed: the rules of each queue and CPT in match order.
 *
 * Source: spec/lustre 3.2. A line is `NAME CONDITIONS RATE, ref N`; conditions may contain blanks, so it is parsed from the right.
 * Servers echo conditions byte for byte.
 */
import { QUEUE_TITLES, type Queue } from './nrs-policies.ts'
import type { ByteText, SkippedLine } from './text.ts'

/** Range of a rule's rate, RPC/s per class. */
export const RATE_MIN = 1
export const RATE_MAX = 999_999

/** One rule on one queue of one CPT. */
export interface RuleLine {
  readonly queue: Queue
  readonly cpt: number
  readonly name: string
  /** For example `jobid={dd.*}&opcode={ost_write}`, or `*` for the built-in rule. */
  readonly conditions: string
  /** RPC/s for each class. */
  readonly rate: number
  /** Classes attached to the rule, idle ones included. */
  readonly ref: number
}

const LINE = /^(\S*) (.*) (\d+), ref (-?\d+)$/
const CPT = /^CPT (\d+):$/

/** Parses the value of nrs_tbf_rule, in match order. Unreadable lines are reported and skipped. */
export function parseNrsTbfRule(text: ByteText): { rules: RuleLine[]; skipped: SkippedLine[] } {
  const rules: RuleLine[] = []
  const skipped: SkippedLine[] = []
  let queue: Queue = 'reg'
  let cpt = 0
  text.split('\n').forEach((line, i) => {
    if (line === '') return
    if (line === QUEUE_TITLES.reg || line === QUEUE_TITLES.hp) {
      queue = line === QUEUE_TITLES.hp ? 'hp' : 'reg'
      return
    }
    const head = CPT.exec(line)
    if (head) {
      cpt = Number(head[1])
      return
    }
    const m = LINE.exec(line)
    if (m) rules.push({ queue, cpt, name: m[1] ?? '', conditions: m[2] ?? '', rate: Number(m[3]), ref: Number(m[4]) })
    else skipped.push({ line: i + 1, reason: 'not a rule' })
  })
  return { rules, skipped }
}

/** Formats one rule line as a server prints it, newline included. */
export const formatRuleLine = (r: Pick<RuleLine, 'name' | 'conditions' | 'rate' | 'ref'>): string =>
  `${r.name} ${r.conditions} ${r.rate}, ref ${r.ref}\n`

/** Formats the head line of a queue's section, and of a CPT's rules within it. */
export const formatQueueTitle = (queue: Queue): string => `${QUEUE_TITLES[queue]}\n`
export const formatCptTitle = (cpt: number): string => `CPT ${cpt}:\n`
