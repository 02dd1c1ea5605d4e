/** Check of a rule draft for the editor: text and form, faults, effect on rates and affected jobs. */
import type { Lint, RuleCheck, RuleForm, ServiceName, Trial } from '#core/api/rule-edits.ts'
import { ended, type Steps } from '#core/base/steps.ts'
import { ceiling } from '#core/control/ceiling.ts'
import { lintDraft } from '#core/control/lint.ts'
import type { Lint as ControlLint } from '#core/control/lint-codes.ts'
import type { RuleEdit, StartEdit } from '#core/control/rule-edit.ts'
import { sizeOfHistogram, sizeOfMean, type RpcSize } from '#core/control/rpc-size.ts'
import { spans } from '#core/control/sentence.ts'
import { typeOn, type ServerRules } from '#core/control/server-rules.ts'
import { runTrialInSteps, type TrialResult } from '#core/control/trial.ts'
import { splitConditions } from '#core/tbf/conditions.ts'
import { readPastedLine } from '#core/tbf/pasted-line.ts'
import { LUSTRE_DEFAULTS } from '#core/tbf/rule-list.ts'
import { SERVICES } from '../../base/service.ts'
import type { RuleService } from './rule-service.ts'
import { diagnoseDraft, diagnoseRenewal } from './diagnosis.ts'
import { editOfCommand, formOfValue, renewalOfForm, valueOfForm } from './draft.ts'
import { liveJobsInSteps, meanRateOf } from './servers.ts'
import { isRenewal } from './staged-changes.ts'
import { groupsInSteps } from './trial-inputs.ts'

/** Most jobs named in a trial. */
const JOBS_NAMED = 50

export const toLint = (l: ControlLint): Lint => ({
  code: l.code,
  level: l.level,
  rule: l.rule,
  text: l.servers && l.servers.length > 0 ? `${l.text} (${l.servers.join(', ')})` : l.text,
})

/** Trial in the contract's form. */
export const toTrial = (r: TrialResult, atMs: number | null): Trial => ({
  atMs,
  jobs: r.jobs
    .filter((j) => j.how !== 'none')
    .slice(0, JOBS_NAMED)
    .map((j) => ({
      jobId: j.jobId,
      how: j.how === 'may' ? 'may' : 'yes',
      rpcs: j.rpcs,
      before: j.before.join(', '),
      change: j.change ?? null,
    })),
  jobCount: r.sure + r.may,
  mayCount: r.may,
  otherCount: r.others,
  classes: r.classes,
  targets: r.targets.length,
  servers: r.servers.length,
  rpcsNow: r.rpcsNow,
  rpcsAfter: r.rpcsAfter ?? null,
})

/**
 * Mean RPC size of a job: of recent RPCs if bytes are counted; otherwise of all since its entries began, from exact
 * sums if printed, else from the bins.
 */
export function rpcSizeOf(ruleService: RuleService, jobId: string): RpcSize | undefined {
  const recent = ruleService.monitor.jobs.find(jobId)?.recentData
  const now = recent && sizeOfMean(recent.bytes, recent.rpcs)
  if (now) return now
  let bytes = 0
  let samples = 0
  const hist = new Map<number, number>()
  for (const host of ruleService.monitor.serversOf('ost_io')) {
    for (const t of ruleService.monitor.reading(host, 'ost_io')?.targets ?? []) {
      const entry = t.entries.find((e) => e.jobId === jobId)
      for (const name of ['read_bytes', 'write_bytes']) {
        const c = entry?.counters.get(name)
        if (!c) continue
        bytes += c.sum
        samples += c.samples
        for (const [bin, n] of c.hist ?? []) hist.set(bin, (hist.get(bin) ?? 0) + n)
      }
    }
  }
  return sizeOfMean(bytes, samples) ?? sizeOfHistogram(hist)
}

/** Rate that a rule has, or would have. */
function rateOfEdit(edit: RuleEdit, servers: readonly ServerRules[]): number | undefined {
  if (edit.verb === 'stop') return undefined
  if (edit.rate !== undefined) return edit.rate
  return servers.flatMap((s) => s.rules).find((r) => r.name === edit.name)?.rate
}

function ceilingOf(
  ruleService: RuleService,
  service: ServiceName,
  edit: RuleEdit,
  servers: readonly ServerRules[],
  trial: Trial,
): RuleCheck['ceiling'] {
  const rate = rateOfEdit(edit, servers)
  const first = servers[0]
  if (rate === undefined || !first) return []
  const [only] = trial.jobs
  const job = trial.jobCount === 1 && trial.mayCount === 0 ? only?.jobId : undefined
  const known = job === undefined ? undefined : ruleService.monitor.jobs.find(job)
  const queues = edit.queue === 'both' && first.hp ? 2 : 1
  const fields = typeOn(first, edit.queue === 'hp' ? 'hp' : 'reg')?.fields ?? []
  // Servers with different CPT counts are summed.
  const isAlike = fields.includes('nid') || servers.every((s) => s.cpts === first.cpts)
  const { sentence } = ceiling({
    rate,
    cpts: isAlike ? first.cpts : servers.reduce((n, s) => n + s.cpts, 0),
    servers: isAlike ? servers.length : 1,
    queues,
    fields,
    ...(known === undefined ? {} : { now: meanRateOf(ruleService.monitor, service, known) }),
    ...(job === undefined || service !== 'ost_io' ? {} : { rpcSize: rpcSizeOf(ruleService, job) }),
    server: service === 'ost_io' ? 'OSS' : 'MDS',
  })
  return spans(sentence)
}

const expressionsOf = (conditions: string): RuleCheck['expressions'] =>
  (splitConditions(conditions) ?? []).map((e) => ({ join: e.join, field: e.field, items: [...e.items] }))

/** Start command of a draft as far as it can be parsed, so that faulty drafts get remarks too. */
function startOf(form: RuleForm): StartEdit | undefined {
  if (form.verb !== 'start') return undefined
  const { name, conditions, queue, realtime } = form
  const rate = form.rate === '' ? LUSTRE_DEFAULTS.rate : Number(form.rate)
  return Number.isInteger(rate) ? { verb: 'start', name, conditions, queue, realtime, rate } : undefined
}

/** A line for another service is applied to the edited one, with a remark. */
function otherService(service: ServiceName, named: string | undefined): string[] {
  if (named === undefined || named === service) return []
  return [`the line is for ${named}; here it is applied to ${service}`]
}

type Draft = { readonly text: string } | { readonly form: RuleForm; readonly renews?: boolean | undefined }

/** Checks a draft against the newest sample. Nothing is kept or sent. */
export const checkDraft = (ruleService: RuleService, service: ServiceName, draft: Draft): RuleCheck =>
  ended(checkDraftInSteps(ruleService, service, draft))

/** Same in steps of some milliseconds, so that sampling continues while an operator types. */
export function* checkDraftInSteps(ruleService: RuleService, service: ServiceName, draft: Draft): Steps<RuleCheck> {
  const { sample } = ruleService.monitor
  const atMs = sample === 0 ? null : ruleService.monitor.nowMs()
  const servers = ruleService.servers(service)
  const fields = servers[0] && (typeOn(servers[0], 'reg') ?? typeOn(servers[0], 'hp'))?.fields
  const pasted = 'text' in draft ? readPastedLine(draft.text, fields ?? []) : undefined
  const isRule = pasted?.fault === undefined && pasted?.parameter === 'nrs_tbf_rule'
  const text = 'text' in draft ? (isRule ? pasted.value : draft.text) : valueOfForm(draft.form)
  const form = 'text' in draft ? formOfValue(text) : draft.form
  const otherStaged = ruleService.otherChanges(service, form)
  const renewal = 'form' in draft ? renewalOfForm(form, draft.renews) : undefined
  const { command, faults, warnings } = renewal
    ? { command: undefined, faults: diagnoseRenewal(servers, otherStaged, renewal), warnings: [] }
    : diagnoseDraft(servers, otherStaged, text)
  const sent = command && editOfCommand(command, LUSTRE_DEFAULTS.rate)
  const edit = sent ?? (faults.length === 0 ? renewal : undefined)
  const start = edit?.verb === 'start' ? edit : startOf(form)
  const lints: Lint[] = [
    ...warnings.map((w): Lint => ({ code: 'ODD', level: 'watch', rule: form.name, text: w.why })),
    // A fault of the editor already reports the same in place.
    ...(start ? lintDraft(start, { servers, service }) : []).filter((l) => l.level !== 'bad').map(toLint),
  ]
  yield
  const edits = edit ? [...otherStaged.filter((o) => !isRenewal(o)).map((o) => o.edit), ...(sent ? [sent] : [])] : []
  let result: TrialResult | undefined
  if (edit && edit.verb !== 'stop') {
    const groups = yield* groupsInSteps(service, servers, edits)
    result = yield* runTrialInSteps(yield* liveJobsInSteps(ruleService.monitor, service), [edit.name], groups)
  }
  const trial = result ? toTrial(result, atMs) : null
  return {
    text,
    parameter: SERVICES[service].rules,
    form,
    expressions: expressionsOf(form.conditions),
    faults: [...faults],
    notes: [...(pasted?.notes ?? []), ...otherService(service, pasted?.service)],
    lints,
    ceiling: edit && trial && sample > 0 ? ceilingOf(ruleService, service, edit, servers, trial) : [],
    trial,
  }
}
