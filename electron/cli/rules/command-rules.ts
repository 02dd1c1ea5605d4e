/** Rule service of one command: loads the rules managed by Sluice from the store; controllers are not involved. */
import { ok, type Failure, type Result } from '#core/base/result.ts'
import { EnforcementStore, storeFile } from '../../enforce/store.ts'
import type { RuleServiceOptions } from '../../host/rules/sending.ts'
import { RuleService } from '../../host/rules/rule-service.ts'
import { dataFolder, type ClustersFlags } from '../clusters-flags.ts'
import type { OpenCluster } from '../live.ts'
import { EXIT, type ExitCode } from '../output.ts'
import { loadManagedRules } from './managed-rules.ts'

/** The enforcement store of the data folder. Failures: those of opening it. */
export const openStore = (flags: ClustersFlags): Result<EnforcementStore> =>
  EnforcementStore.open(storeFile(dataFolder(flags)), Date.now())

/** Creates the rule service over the current connection of a cluster. The cluster's write protection decides if it may write. */
export function commandRules(
  { source }: OpenCluster,
  store: EnforcementStore,
  options: RuleServiceOptions = {},
): RuleService {
  const { writeProtection, monitor } = source
  const ruleService = new RuleService(monitor, {
    ...options,
    mayWrite: () => {
      const may = writeProtection?.mayEnter('enforce')
      return may && !may.ok ? may.error : undefined
    },
  })
  loadManagedRules(ruleService, store)
  return ruleService
}

/** Exit code of a failed command: a root login without permission to write is a usage error of the clusters file. */
export const exitOf = (failure: Failure): ExitCode => (failure.code === 'ROOT_LOGIN' ? EXIT.usage : EXIT.failed)

/**
 * Unlocks writing for this command, after its target was typed. Failures: READ_ONLY, ROOT_LOGIN, AUDIT_BROKEN and others of the
 * write protection.
 */
export function unlockFor({ source, name }: OpenCluster): Result<undefined> {
  const { writeProtection } = source
  const may = writeProtection?.mayEnter('enforce') ?? ok(undefined)
  if (may.ok || may.error.code !== 'LOCKED' || !writeProtection) return may
  const unlocked = writeProtection.unlock(name)
  return unlocked.ok ? ok(undefined) : unlocked
}
