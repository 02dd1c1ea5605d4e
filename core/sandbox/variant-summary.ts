/** One-line summary of a variant, as on its card. */
import { ADAPTBF, definitionOf } from '../controllers/registry.ts'
import { LOCK_OPTIONS, type LockOption } from '../controllers/settings.ts'
import type { Scenario } from '../emulator/scenario.ts'
import type { Variant } from './variant.ts'

const LONGEST = 160
const RULES_NAMED = 2

/** `A` for the first variant after the baseline. */
export const letterOf = (index: number): string => (index === 0 ? 'baseline' : String.fromCharCode(64 + index))

export const bounded = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`

/** Formats `start cap jobid={4690.*} rate=400` as `400 RPC/s, jobid={4690.*}`; any other line stays unchanged. */
function ruleText(line: string): string {
  const start = /^(?:(?:reg|hp) )?start \S+ (.*?)(?: (?:rate|rank|realtime)=\S+)*$/.exec(line.trim())
  const rate = / rate=(\d+)(?: |$)/.exec(line)?.[1]
  return start?.[1] !== undefined && rate !== undefined ? `${rate} RPC/s, ${start[1]}` : line
}

function controllerParts(v: Variant, { control }: Pick<Scenario, 'control'>): string[] {
  const rate = `token rate ${v.maxRate ?? control.max_rate} RPC/s per OST`
  const period = `period ${v.periodMs ?? control.period_ms} ms`
  const { summary, rulePrefix } = definitionOf(v.controller)
  if (rulePrefix === null) return v.rules.length > 0 ? [] : [summary]
  if (v.controller !== ADAPTBF) return [summary, rate]
  const { demand, deadbandPercent, coefficient, overdraft, autoT } = v.adaptbf
  return [
    summary,
    rate,
    period,
    ...(demand === undefined ? [] : [`demand ${demand}`]),
    ...(deadbandPercent ? [`deadband ${deadbandPercent} %`] : []),
    ...(coefficient === 'min' ? ['coefficient min'] : []),
    ...(overdraft ? [`overdraft ${overdraft}`] : []),
    ...(autoT ? ['T adjusted to measured capacity'] : []),
  ]
}

const OPTION_TEXT: Readonly<Record<LockOption, string>> = {
  earlyGrant: 'early grant',
  earlyRevocation: 'early revocation',
  conversion: 'conversion',
  expansion: 'expansion',
}

const lockOptionTexts = (options: Variant['lockOptions']): string[] =>
  LOCK_OPTIONS.flatMap((option) => {
    const wanted = options[option]
    return wanted === undefined ? [] : [`${wanted ? 'with' : 'without'} ${OPTION_TEXT[option]}`]
  })

const NODE_TEXT = {
  scenario: [],
  off: ['data nodes without QoS'],
  basic: ['Basic Haechi'],
  haechi: ['Haechi'],
} as const

function tokenParts({ haechi, tokens }: Variant): string[] {
  const { preset, conversion, decay, estimator = {}, reservations = [] } = tokens
  return [
    ...NODE_TEXT[haechi],
    ...(preset === undefined ? [] : [`preset ${preset}`]),
    ...(conversion === undefined ? [] : [`conversion ${conversion}`]),
    ...(decay === undefined ? [] : [`decay ${decay}`]),
    ...(estimator.enabled === undefined ? [] : [`capacity estimate ${estimator.enabled ? 'on' : 'off'}`]),
    ...(estimator.rule === undefined ? [] : [`estimator ${estimator.rule}`]),
    ...(estimator.history === undefined ? [] : [`estimator history ${estimator.history}`]),
    ...(estimator.increment === undefined ? [] : [`estimator increment ${estimator.increment}`]),
    ...reservations.slice(0, RULES_NAMED).map((r) => `${r.client} reserves ${r.reservation}`),
    ...(reservations.length > RULES_NAMED ? [`${reservations.length - RULES_NAMED} more reservations`] : []),
  ]
}

/** Describes the settings of a variant; those inherited from the scenario are omitted. */
export function variantSummary(v: Variant, scenario: Pick<Scenario, 'control'>): string {
  const more = v.rules.length - RULES_NAMED
  const parts = [
    ...controllerParts(v, scenario),
    ...v.rules.slice(0, RULES_NAMED).map((r) => ruleText(r.line)),
    ...(more > 0 ? [`${more} more rules`] : []),
    ...(v.metadata === null ? [] : [v.metadata === 'off' ? 'metadata not controlled' : `PADLL ${v.metadata}`]),
    ...v.metadataLimits.map((l) => `${l.scope} limit ${l.rate} op/s`),
    ...(v.locks === null ? [] : [`locks ${v.locks}`]),
    ...lockOptionTexts(v.lockOptions),
    ...tokenParts(v),
    ...(v.onS > 0 ? [`from ${v.onS} s on`] : []),
  ]
  return bounded(parts.join(', '), LONGEST)
}
