/**
 * Staging of a variant on the active source: its rules are staged, its controller is selected if that writes nothing.
 * Rules then go through the same review as every other change. Either all of a variant is staged or nothing.
 */
import type { RuleForm } from '#core/api/rule-edits.ts'
import type { Variant } from '#core/api/sandbox.ts'
import type { LoopOptions } from '#core/adaptbf/loop-options.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { typeOn } from '#core/control/server-rules.ts'
import { readPastedLine } from '#core/tbf/pasted-line.ts'
import type { ActiveView } from '../active-view.ts'
import type { RuleService } from '../rules/rule-service.ts'
import { formOfValue } from '../rules/draft.ts'
import type { ChangeTerms } from '../rules/staged-changes.ts'
import { changeOf } from '../views/adaptbf.ts'

export interface StageRequest {
  readonly variant: Variant
  /** Becomes the reason of the staged changes. */
  readonly verdict: string
  readonly expireMinutes: number
  /** Cluster that the scenario was forked from; undefined: it is not a fork, or not known. */
  readonly cluster: string | undefined
}

const WHAT = 'The variant was not staged'
const UNAFFECTED = 'Nothing was staged, and nothing was changed on the cluster.'
const refuse = (code: string, why: string, next: string): Failure => ({
  code,
  what: WHAT,
  why,
  unaffected: UNAFFECTED,
  next,
})

/** Parts of a variant that no rule and no controller of OSTs covers, and the view where they are set. */
function notCarried(variant: Variant, writes: string): string[] {
  const { controller, metadata, metadataLimits, locks, lockOptions, haechi, tokens, maxRate, periodMs } = variant
  return [
    ...(controller === 'none' && writes !== 'none'
      ? [`controller ${writes} keeps writing rules; the variant was run without it`]
      : []),
    ...(metadata === null && metadataLimits.length === 0 ? [] : ['control of metadata is set in Metadata QoS']),
    ...(locks === null && Object.keys(lockOptions).length === 0 ? [] : ['the lock manager belongs to the servers']),
    ...(haechi === 'scenario' && Object.keys(tokens).length === 0 ? [] : ['QoS of data nodes is set in Tokens']),
    ...(maxRate === null && periodMs === null
      ? []
      : ['the token rate T and the period of the cluster are not changed']),
  ]
}

function fieldsOf(
  ruleService: RuleService,
  service: Variant['rules'][number]['service'],
): Parameters<typeof readPastedLine>[1] {
  const [server] = ruleService.servers(service)
  return (server && (typeOn(server, 'reg') ?? typeOn(server, 'hp'))?.fields) ?? []
}

/** Form of a rule line. Failures: LINE_FAULTY, naming the line. */
function formOf(ruleService: RuleService, rule: Variant['rules'][number], number: number): Result<RuleForm> {
  const faulty = (why: string): Result<never> =>
    fail(refuse('LINE_FAULTY', `line ${number}, ${rule.line}: ${why}`, 'Correct the line in the variant.'))
  const read = readPastedLine(rule.line, fieldsOf(ruleService, rule.service))
  if (read.fault) return faulty(read.fault.why)
  if (read.parameter !== 'nrs_tbf_rule') return faulty('it is not a rule')
  if (read.service !== undefined && read.service !== rule.service)
    return faulty(`it is for ${read.service}, not ${rule.service}`)
  return ok(formOfValue(read.value))
}

/** Stages all rules, or reverts them and reports the refused line. */
function stageRules(ruleService: RuleService, { variant, verdict, expireMinutes }: StageRequest): Result<number> {
  const back = ruleService.staged.mark()
  const terms: ChangeTerms = { expiresS: Math.max(30, Math.round(expireMinutes * 60)), reason: verdict }
  for (const [i, rule] of variant.rules.entries()) {
    const form = formOf(ruleService, rule, i + 1)
    const staged = form.ok ? ruleService.stage(rule.service, form.value, terms) : form
    if (staged.ok) continue
    back()
    ruleService.monitor.changed()
    if (!form.ok) return form
    const { code, why } = staged.error
    return fail(
      refuse(code, `line ${i + 1}, ${rule.line}: ${why ?? staged.error.what}`, 'Correct the line in the variant.'),
    )
  }
  return ok(variant.rules.length)
}

/** Settings of AdapTBF that differ from those in force. */
function optionChanges(variant: Variant, options: LoopOptions): Partial<LoopOptions> {
  const named = Object.entries(changeOf(variant.adaptbf))
  return Object.fromEntries(named.filter(([name, value]) => options[name as keyof LoopOptions] !== value))
}

/**
 * Stages a variant.
 *
 * Failures: RECORDED (a playback is shown); OTHER_CLUSTER; NOTHING_TO_STAGE; ENFORCING (its controller would begin to
 * write without a review); LINE_FAULTY and those of `RuleService.stage`, with the line; those of the controller's
 * settings.
 */
export function stageVariant(onScreen: ActiveView, request: StageRequest): Result<{ staged: number; text: string }> {
  const { variant, cluster } = request
  if (onScreen.playback) {
    return fail(refuse('RECORDED', 'a recording is shown', 'Return to live, then stage it.'))
  }
  const { monitor, ruleService } = onScreen.console
  const shown = monitor.source.cluster
  if (cluster !== undefined && cluster !== shown) {
    const why = `the scenario is a fork of ${cluster}, and ${shown} is active`
    return fail(refuse('OTHER_CLUSTER', why, `Switch to ${cluster}, then stage it.`))
  }
  const { loop } = monitor
  const isController = variant.controller !== 'none'
  const changes = isController ? optionChanges(variant, loop.controllers.options) : {}
  const isOther = isController && variant.controller !== loop.controller
  const notStaged = notCarried(variant, loop.mode === 'enforce' ? loop.controller : 'none')
  if (variant.rules.length === 0 && !isController) {
    const elsewhere = notCarried(variant, 'none')
    const why = elsewhere.length > 0 ? elsewhere.join('; ') : 'it has no rules and no controller'
    return fail(refuse('NOTHING_TO_STAGE', why, 'Stage a variant with rules or a controller.'))
  }
  if ((isOther || Object.keys(changes).length > 0) && loop.mode === 'enforce') {
    const why = `${shown} is in enforce mode: the controller would begin to write without a review`
    return fail(refuse('ENFORCING', why, 'Choose Advise, stage it, look at its plan, then choose Enforce.'))
  }
  const back = ruleService.staged.mark()
  const rules = stageRules(ruleService, request)
  if (!rules.ok) return rules
  const { options } = loop.controllers
  const chosen = Object.keys(changes).length > 0 ? monitor.setControllerOptions(changes) : ok(undefined)
  const named = chosen.ok && isOther ? monitor.setController(variant.controller) : chosen
  if (!named.ok) {
    back()
    loop.controllers.setOptions(options)
    monitor.changed()
    return fail({ ...named.error, what: WHAT, why: [named.error.what, named.error.why].filter(Boolean).join(': ') })
  }
  monitor.changed()
  return ok({
    staged: rules.value,
    text: summary(request, rules.value, { isOther, changes, left: notStaged, mode: loop.mode }),
  })
}

function summary(
  { variant, expireMinutes, cluster }: StageRequest,
  staged: number,
  of: {
    readonly isOther: boolean
    readonly changes: Partial<LoopOptions>
    readonly left: readonly string[]
    readonly mode: string
  },
): string {
  const isSet = of.isOther || Object.keys(of.changes).length > 0
  const rules = `${staged} ${staged === 1 ? 'rule' : 'rules'} staged, ${expireMinutes} min each; review and commit them in Rules`
  return [
    ...(staged > 0 ? [rules] : []),
    ...(isSet ? [`controller ${variant.controller} is set in ${of.mode} mode and writes nothing`] : []),
    ...(variant.controller !== 'none' && !isSet ? [`controller ${variant.controller} is set already`] : []),
    ...of.left,
    ...(cluster === undefined ? ['the scenario is not a fork of this cluster'] : []),
  ]
    .map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`)
    .join(' ')
}
