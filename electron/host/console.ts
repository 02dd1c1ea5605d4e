/** Everything about one source, live or emulated, that a window can request. */
import type { Alert } from '#core/api/incidents.ts'
import type { Failure } from '#core/base/result.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import { LockComparison } from './locks/compare.ts'
import { PadllService } from './padll/padll-service.ts'
import { RuleService } from './rules/rule-service.ts'
import type { Source } from './sources/source.ts'
import { TokenService } from './tokens/token-service.ts'

export interface Console extends Source {
  readonly padll: PadllService
  readonly tokens: TokenService
  readonly comparison: LockComparison
  /** Active alerts, and reason why alert settings are not in force; set by the alert service. */
  alerts?: { readonly list: () => Alert[]; readonly notice: () => Failure | undefined } | undefined
}

export function consoleOf(
  monitor: ClusterMonitor,
  parts: Pick<Source, 'facts' | 'setSpeed' | 'writeProtection' | 'store'> & {
    readonly ruleService?: RuleService
    readonly scenario?: { readonly scenario: Scenario; readonly seed: number } | undefined
  },
): Console {
  const { scenario } = parts
  return {
    monitor,
    ruleService: parts.ruleService ?? new RuleService(monitor),
    padll: new PadllService(monitor),
    tokens: new TokenService(monitor),
    comparison: new LockComparison(monitor.locks && scenario?.scenario, scenario?.seed ?? 0),
    facts: parts.facts,
    setSpeed: parts.setSpeed,
    writeProtection: parts.writeProtection,
    store: parts.store,
  }
}
