/**
 * Cost of checking a rule draft on a cluster of 12 servers: per keystroke, and the longest time that the host is
 * blocked.
 */
import type { Bench, Growth } from '../../../bench/measure.ts'
import { formOfValue } from './draft.ts'
import { checkDraftInSteps } from './check.ts'
import { planEdits } from '#core/control/edit-plan.ts'
import { editOfCommand } from './draft.ts'
import { groupServers } from '#core/control/trial-groups.ts'
import { parseRuleCommand } from '#core/tbf/rule-command.ts'
import type { RuleService } from './rule-service.ts'
import { liveJobs } from './servers.ts'
import { jobIdOf, largeRuleService } from '../../../bench/large-rule-service.ts'
import { stagedFrame } from '../views/rules/staged.ts'
import { rulesFrame } from '../views/rules/rules.ts'

const ON = 'ost_io'
const RULES = 100
const JOBS = 10_000
/** One job, the jobs of a user, and all jobs. */
const TYPED = [
  `start cap jobid={${jobIdOf(500)}} rate=10`,
  'start cap jobid={*.u3} rate=10',
  'start cap jobid={4*} rate=10',
]

const desks = new Map<string, Promise<RuleService>>()
function serviceOf(jobs: number, rules: number): Promise<RuleService> {
  const name = `${jobs} ${rules}`
  const ruleService = desks.get(name) ?? largeRuleService(jobs, rules)
  desks.set(name, ruleService)
  return ruleService
}

/** CPU time of this thread, ms: unaffected by other load on the machine. */
const spentMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** @returns  total time and longest step of a check, ms of CPU time. */
function checked(ruleService: RuleService, text: string): { whole: number; longest: number } {
  const steps = checkDraftInSteps(ruleService, ON, { form: formOfValue(text) })
  let totalMs = 0
  let longest = 0
  for (let isOver = false; !isOver;) {
    const from = spentMs()
    const step = steps.next()
    const ms = spentMs() - from
    totalMs += ms
    longest = Math.max(longest, ms)
    isOver = step.done === true
    if (step.done === true && !step.value.trial) throw new Error(JSON.stringify(step.value.faults))
  }
  return { whole: totalMs, longest }
}

const sum = (ruleService: RuleService): number => TYPED.reduce((ms, text) => ms + checked(ruleService, text).whole, 0)

/** Baseline: matches every job against the rules before and after, per queue and server, without any sharing. */
async function plain(): Promise<number> {
  const ruleService = await serviceOf(JOBS, RULES)
  const command = parseRuleCommand(TYPED[2] ?? '')
  if (!command.ok) throw new Error('no command')
  const edit = editOfCommand(command.value, 10_000)
  const from = spentMs()
  const jobs = liveJobs(ruleService.monitor, ON)
  let bound = 0
  for (const before of ruleService.servers(ON)) {
    const [group] = groupServers([{ before, after: planEdits(before, [edit]).expected }])
    for (const { before: was, after: will } of group?.queues ?? [])
      for (const job of jobs) bound += was.binder.bindJob(job).length + will.binder.bindJob(job).length
  }
  const ms = spentMs() - from
  if (bound < 4 * 12 * JOBS) throw new Error('not all were bound')
  return ms
}

/** A hundred staged rules: the list with their effects, and their review. */
async function staged(): Promise<number> {
  const ruleService = await serviceOf(JOBS, RULES)
  ruleService.unstage(ON, null)
  for (let i = 0; i < 100; i++) {
    const put = ruleService.stage(ON, formOfValue(`start new_${i} jobid={${jobIdOf(7 * i + 3)}} rate=7`), {
      expiresS: 600,
      reason: 'measured',
    })
    if (!put.ok) throw new Error(put.error.why)
  }
  const from = spentMs()
  const list = rulesFrame(ruleService, { at: null, service: ON, node: '', queue: 'reg', offset: 0, limit: 100 }, 1)
  const review = stagedFrame(ruleService, { service: ON }, 1).review
  const ms = spentMs() - from
  ruleService.unstage(ON, null)
  if (list.rows.length !== 100 || review?.trial?.jobCount !== 100) throw new Error('not all that was staged')
  return ms
}

const CASE = `12 servers, ${RULES} rules, one in ten of them with a wildcard`
const WISH = '; the bound is our own target'
export const benches: readonly (Bench | Growth)[] = [
  {
    id: 'rules.check.10000-jobs',
    unit: 'ms',
    must: { most: 300 },
    note: `one key, a rule that meets all of 10,000 jobs, ${CASE}; processor time${WISH}`,
    beside: 'every job bound by the rules before and after on every server by itself',
    limit: 'every job comes under the rule, so what it was under and what is left to it is worked out for each of them',
    run: async () => checked(await serviceOf(JOBS, RULES), TYPED[2] ?? '').whole,
    baseline: plain,
  },
  {
    id: 'rules.check.longest-step',
    unit: 'ms',
    must: { most: 20 },
    note: `the longest time for which the host does nothing else, slowest of three rules; 10,000 jobs, ${CASE}${WISH}`,
    limit: 'a plan for one server is made in one piece, and grows with its rules',
    run: async () => {
      const ruleService = await serviceOf(JOBS, RULES)
      return Math.max(...TYPED.map((text) => checked(ruleService, text).longest))
    },
  },
  {
    id: 'rules.check.growth-jobs',
    unit: 'exponent',
    must: { most: 1.2 },
    note: `three rules typed, over jobs; ${CASE}${WISH}`,
    limit: 'below 1, as the plans of the servers cost the same for all sizes',
    sizes: [1000, 3000, JOBS],
    axis: 'size',
    runs: 5,
    cost: async (_: unknown, jobs: number) => sum(await serviceOf(jobs, RULES)),
  },
  {
    id: 'rules.check.growth-rules',
    unit: 'exponent',
    must: { most: 1.2 },
    note: `three rules typed, over rules of each of 12 servers; 1,000 jobs${WISH}`,
    limit: 'every rule of every server is compared and planned; what the jobs cost is the same for all sizes',
    sizes: [100, 300, 1000, 3000],
    axis: 'size',
    runs: 5,
    cost: async (_: unknown, rules: number) => sum(await serviceOf(1000, rules)),
  },
  {
    id: 'rules.staged-100',
    unit: 'ms',
    must: { most: 1000 },
    note: `the list and the review of 100 new rules, computed again; 10,000 jobs, ${CASE}; processor time${WISH}`,
    limit:
      'each server is planned by itself, there and back, and the remarks try every job against every rule with a wildcard',
    run: staged,
    runs: 5,
  },
]
