/** The rule service of one command: rules of ours are known from the store, and the controllers have no part in it. */
import { ok, type Failure, type Result } from '#core/base/result.ts'
import { EnforcementStore, storeFile } from '../../enforce/store.ts'
import type { RuleServiceOptions } from '../../host/rules/sending.ts'
import { RuleService } from '../../host/rules/rule-service.ts'
import { dataFolder, type ClustersFlags } from '../clusters-flags.ts'
import type { OpenCluster } from '../live.ts'
import { EXIT, type ExitCode } from '../output.ts'
import { takeOwn } from './own-rules.ts'

/** The enforcement store of the data folder. Failures: those of opening it. */
export const openStore = (flags: ClustersFlags): Result<EnforcementStore> =>
  EnforcementStore.open(storeFile(dataFolder(flags)), Date.now())

/** The rule service over the present connection of a cluster. Whether it may write is the cluster's own guard's affair. */
export function commandRules(
  { source }: OpenCluster,
  store: EnforcementStore,
  options: RuleServiceOptions = {},
): RuleService {
  const { guard, monitor } = source
  const ruleService = new RuleService(monitor, {
    ...options,
    mayWrite: () => {
      const may = guard?.mayEnter('enforce')
      return may && !may.ok ? may.error : undefined
    },
  })
  takeOwn(ruleService, store)
  return ruleService
}

/** Exit code of a failure that ended a command: a login as root that is not allowed to write is a matter of the clusters file. */
export const exitOf = (failure: Failure): ExitCode => (failure.code === 'ROOT_LOGIN' ? EXIT.usage : EXIT.failed)

/** Opens the way to writing for this command, after its target was named. Failures: READ_ONLY, ROOT_LOGIN, AUDIT_BROKEN and others of the guard. */
export function unlockFor({ source, name }: OpenCluster): Result<undefined> {
  const { guard } = source
  const may = guard?.mayEnter('enforce') ?? ok(undefined)
  if (may.ok || may.error.code !== 'LOCKED' || !guard) return may
  const unlocked = guard.unlock(name)
  return unlocked.ok ? ok(undefined) : unlocked
}
