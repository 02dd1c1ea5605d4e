/**
 * Opens one source for a command: nodes, readings and writes, or a recording's samples. The application around it
 * (history on disk, sandbox, incidents, the contract) is not opened or loaded.
 */
import type { ClusterInput } from '#core/api/clusters.ts'
import { ok, type Result } from '#core/base/result.ts'
import type { SshAccessOptions } from '../../cluster/live/ssh-access.ts'
import { History } from '../../history/history.ts'
import { openAccess, openRoles, openStore } from './data-folder.ts'
import { beginLive } from './live.ts'
import type { OpenRecording, RecordingRequest } from './recording.ts'
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
  /** Folder of trusted keys and the enforcement store. */
  readonly dataDir: string
  /** SSH access to servers; as the user's own ssh by default. */
  readonly ssh?: SshAccessOptions | undefined
}

/**
 * Opens a source. A cluster or the emulator is sampled from then on; a cluster without any answering server is opened,
 * too: `source` is then undefined and the servers carry the reasons. Failures: those of the scenario, and of the
 * recording.
 */
export function openSource(request: RecordingRequest): Promise<Result<OpenRecording>>
export function openSource(request: EmulatorRequest | ClusterRequest): Promise<Result<OpenSource>>
export async function openSource(
  request: RecordingRequest | EmulatorRequest | ClusterRequest,
): Promise<Result<OpenRecording | OpenSource>> {
  if (request.kind === 'cluster') return openCluster(request)
  if (request.kind === 'recording') {
    const { openRecording } = await import('./recording.ts')
    return openRecording(request)
  }
  // The emulator is most of the program, and commands on a live cluster do not need it.
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
