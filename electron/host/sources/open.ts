/**
 * One source for whoever needs its nodes, readings and writes and nothing else, such as a command. The application around it (history on
 * disk, sandbox, incidents, the contract) is not opened, and no module of it is loaded.
 */
import type { ClusterInput } from '#core/api/clusters.ts'
import { ok, type Result } from '#core/base/result.ts'
import type { SshAccessOptions } from '../../cluster/live/ssh-access.ts'
import { History } from '../../history/history.ts'
import { openAccess, openRoles, openStore } from './data-folder.ts'
import { beginLive } from './live.ts'
import { SampledCluster } from './sampled-cluster.ts'
import type { OpenSource, Source } from './source.ts'

export interface EmulatorRequest {
  readonly kind: 'emulator'
  /** Scenario to emulate; the built-in one by default. */
  readonly scenarioFile?: string | undefined
}

export interface ClusterRequest {
  readonly kind: 'cluster'
  readonly input: ClusterInput
  /** Folder of trusted keys and of the record of what is enforced. */
  readonly dataDir: string
  /** How servers are reached and known; as the user's own ssh by default. */
  readonly ssh?: SshAccessOptions | undefined
}

/**
 * Opens a source and begins to sample it. A cluster of which no server answers is opened all the same: `source` is undefined and the
 * servers tell why. Failures: those of the scenario.
 */
export async function openSource(request: EmulatorRequest | ClusterRequest): Promise<Result<OpenSource>> {
  if (request.kind === 'cluster') return openCluster(request)
  // The emulator is most of the program, and no command on a live cluster needs it.
  const { openEmulator } = await import('./emulated.ts')
  return openEmulator(request.scenarioFile)
}

async function openCluster({ input, dataDir, ssh }: ClusterRequest): Promise<Result<OpenSource>> {
  const opened = History.open(':memory:', Date.now())
  if (!opened.ok) return opened
  const history = opened.value
  const reopen = (): ReturnType<typeof openStore> => openStore(dataDir)
  const store = reopen()
  const refusal = store.ok ? store.value.refusal : store.error
  const access = openAccess(dataDir, ssh)
  const roles = openRoles(dataDir)
  const live = new SampledCluster<Source>(input, {
    access,
    rememberedRoles: (host) => roles.of(input.name, host),
    onRoles: (host, of) => roles.keep(input.name, host, of),
    begin: (cluster, nodes) => beginLive(cluster, nodes, { history: history.beside(), store, reopen }),
  })
  await live.cluster.connect()
  return ok({
    name: input.name,
    get source() {
      return live.source
    },
    get servers() {
      return live.cluster.servers
    },
    notices: refusal ? [refusal] : [],
    close: async () => {
      await live.cluster.disconnect()
      access.stop()
      if (store.ok) store.value.close()
      history.close()
    },
  })
}
