/** Cost of a commit: one new rule with an expiry on 12 emulated servers, from the confirmation to its end. */
import type { Bench } from '../../../bench/measure.ts'
import { jobIdOf, largeMonitor } from '../../../bench/large-rule-service.ts'
import { SERVICES } from '../../base/service.ts'
import { stagedFrame } from '../views/rules/staged.ts'
import { formOfValue } from './draft.ts'
import { RuleService } from './rule-service.ts'

const ON = 'ost_io'
const RULE = `start cap jobid={${jobIdOf(500)}} rate=10`

/** One commit, ms. The first server is not watched, and a silent one would be asked again at once: no pause is measured. */
async function committed(): Promise<number> {
  const service = new RuleService(await largeMonitor(100), { canaryS: 0, sending: { pausesMs: [1, 1] } })
  const staged = service.stage(ON, formOfValue(RULE), { expiresS: 600, reason: 'measured' })
  if (!staged.ok) throw new Error(staged.error.why)
  const review = stagedFrame(service, { service: ON }, 1).review
  const from = performance.now()
  const done = await service.commit(ON, review?.planId ?? '', review?.typed ?? '')
  const ms = performance.now() - from
  if (!done.ok || done.value.nodes.some((n) => n.state !== 'done')) throw new Error(JSON.stringify(done))
  return ms
}

/** The command alone, on one server after the other, ms. */
async function sent(): Promise<number> {
  const monitor = await largeMonitor(100)
  const from = performance.now()
  for (const host of monitor.serversOf(ON)) {
    const answer = await monitor.node(host)?.exec(`lctl set_param ${SERVICES[ON].rules}='reg ${RULE}'`)
    if (!answer?.ok || answer.value.code !== 0) throw new Error(`${host}: ${JSON.stringify(answer)}`)
  }
  return performance.now() - from
}

export const benches: readonly Bench[] = [
  {
    id: 'rules.commit',
    unit: 'ms',
    note: 'one new rule with an expiry on 12 emulated servers: audit, timer, command, read-back; the first server is not watched',
    beside: 'the command alone, on one server after the other',
    limit: 'each server is read before and after, and has a timer made before its rule',
    run: committed,
    baseline: sent,
  },
]
