/** Merges the commands of two queues into one sequence, with the fewest commands that selectors allow. */
import type { Queue } from '../lustre/nrs-policies.ts'
import { STEPS, type Op } from './list-plan.ts'
import { isSameType } from '../tbf/tbf-type.ts'
import type { PlanCommand } from './plan.ts'
import type { QueueChoice } from './rule-edit.ts'
import { typeOn, type ServerRules } from './server-rules.ts'

/** A command with its queues. */
export interface RuleCommandLine extends PlanCommand {
  readonly queue: QueueChoice
  readonly refills: boolean
}

function line(op: Op, queue: QueueChoice): RuleCommandLine {
  const value = queue === 'both' ? op.text : `${queue} ${op.text}`
  return { verb: op.verb, rule: op.name, value, queue, refills: op.refills }
}

/** Longest common subsequence of two sequences by text, as index pairs. */
function alike(a: readonly Op[], b: readonly Op[]): [number, number][] {
  const width = b.length + 1
  const lengths = new Int32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let k = b.length - 1; k >= 0; k--) {
      lengths[i * width + k] =
        (a[i] as Op).text === (b[k] as Op).text
          ? (lengths[(i + 1) * width + k + 1] as number) + 1
          : Math.max(lengths[(i + 1) * width + k] as number, lengths[i * width + k + 1] as number)
    }
  }
  const pairs: [number, number][] = []
  for (let i = 0, k = 0; i < a.length && k < b.length;) {
    if ((a[i] as Op).text === (b[k] as Op).text) pairs.push([i++, k++])
    else if ((lengths[(i + 1) * width + k] as number) >= (lengths[i * width + k + 1] as number)) i++
    else k++
  }
  return pairs
}

/**
 * True if a command without selector has the same meaning on both queues. Lustre parses a start without selector under the TBF type
 * of the last queue, so both must run the same type.
 */
export function areAlike(server: Pick<ServerRules, 'hp' | 'tbf' | 'profile'>): boolean {
  const reg = typeOn(server, 'reg')
  const hp = typeOn(server, 'hp')
  return server.hp && reg !== undefined && hp !== undefined && isSameType(reg, hp)
}

/**
 * Merges the commands of two queues step by step. Equal commands are written without selector, if both queues run the same TBF type; the
 * others name their queue.
 */
export function withSelectors(
  ops: Readonly<Record<Queue, readonly Op[]>>,
  server: Pick<ServerRules, 'hp' | 'tbf' | 'profile'>,
): RuleCommandLine[] {
  const canShare = areAlike(server)
  return STEPS.flatMap((step) => {
    const reg = ops.reg.filter((o) => o.step === step)
    const hp = ops.hp.filter((o) => o.step === step)
    const out: RuleCommandLine[] = []
    let i = 0
    let k = 0
    for (const [a, b] of canShare ? alike(reg, hp) : []) {
      out.push(...reg.slice(i, a).map((o) => line(o, 'reg')), ...hp.slice(k, b).map((o) => line(o, 'hp')))
      out.push(line(reg[a] as Op, 'both'))
      ;[i, k] = [a + 1, b + 1]
    }
    return [...out, ...reg.slice(i).map((o) => line(o, 'reg')), ...hp.slice(k).map((o) => line(o, 'hp'))]
  })
}
