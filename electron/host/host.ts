/**
 * Application core: opens the history, the emulator and the known clusters, and serves the contract. Imports no
 * Electron, so the same host runs in Electron's utility process, behind a browser, in a terminal and in tests.
 */
import { dirname } from 'node:path'
import type { ClusterInput } from '#core/api/clusters.ts'
import { plainText } from '#core/base/plain-text.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { EmulatedSource } from '../cluster/emulated-source.ts'
import type { NodeConnection } from '../base/connection.ts'
import type { SshAccessOptions } from '../cluster/live/ssh-access.ts'
import { LIVE_PLANES } from '../cluster/live-planes.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import type { EnforcementStore } from '../enforce/store.ts'
import { ForeignFiles } from '../foreign/foreign-files.ts'
import { History } from '../history/history.ts'
import { ClusterService } from './clusters/cluster-service.ts'
import { Demo, uncontrolled } from './clusters/demo.ts'
import { FramePump } from './frame-pump.ts'
import { consoleOf } from './console.ts'
import { HistoryService } from './history/history-service.ts'
import { IncidentService } from './incidents/incident-service.ts'
import { machineFacts } from './machine/facts.ts'
import { ActiveView } from './active-view.ts'
import { Papers } from './papers/papers.ts'
import { SandboxService } from './sandbox/sandbox-service.ts'
import { secretsFile, ShellService } from './shell/shell-service.ts'
import { SecretStore } from './shell/secret-store.ts'
import type { Shell } from './shell/shell.ts'
import { makeRouter } from './router.ts'
import { SearchService } from './search/search-service.ts'
import { demoScenario, version } from '../files/resources.ts'
import { readScenario } from './scenario-file.ts'
import { openStore } from './sources/data-folder.ts'
import { beginLive } from './sources/live.ts'

export interface HostOptions {
  readonly shell: 'desktop' | 'browser' | 'terminal'
  /** Path of the history, or `:memory:`. */
  readonly historyFile: string
  /**
   * Folder of clusters, trusted keys and the enforcement store; that of the history by default, none for `:memory:`.
   */
  readonly dataDir?: string | undefined
  /** Scenario to emulate; the built-in one by default. */
  readonly scenarioFile?: string | undefined
  readonly seed?: number | undefined
  /** false: the emulator is paused until something drives it (tests, headless runs). */
  readonly paced?: boolean | undefined
  /** Unix seconds at virtual time 0; the wall clock's by default, so that timestamps look live. */
  readonly epochSeconds?: number | undefined
  /** Wraps the connections to the emulated nodes: direct unless a test or a soak inserts a worse line. */
  readonly reach?: ((node: NodeConnection) => NodeConnection) | undefined
  /** Idle time after which jobs leave memory, ms on the source's clock. @default an hour */
  readonly forgetMs?: number | undefined
  /**
   * Time for which raw samples stay in memory, ms on the source's clock. @default ten minutes, bounded to 180 to 1,800
   * samples
   */
  readonly recentMs?: number | undefined
  /** Clusters of this run only, not saved. */
  readonly clusters?: readonly ClusterInput[] | undefined
  /** SSH access to servers; as the user's own ssh by default. */
  readonly ssh?: SshAccessOptions | undefined
  /** Desktop shell around the host, if there is one. */
  readonly around?: Shell | undefined
}

export type Router = ReturnType<typeof makeRouter>

export interface Host {
  readonly router: Router
  /** Monitor of the active source. */
  readonly monitor: ClusterMonitor
  readonly source: EmulatedSource
  readonly onScreen: ActiveView
  readonly clusters: ClusterService
  readonly incidents: IncidentService
  /** Notices about the data folder, shown when the console starts. */
  readonly notices: readonly Failure[]
  /** Records that a client called an unknown verb: Sluice's own windows never do. */
  unknownVerb(peer: string, verb: string): void
  close(): Promise<void>
}

/** Opens the application. Failures: those of the scenario and of the history. */
export async function openHost(options: HostOptions): Promise<Result<Host>> {
  const read = readScenario(options.scenarioFile ?? demoScenario())
  if (!read.ok) return read
  const scenario = options.scenarioFile === undefined ? uncontrolled(read.value) : read.value
  const opened = History.openOrWithout(options.historyFile, Date.now())
  if (!opened.ok) return opened
  const history = opened.value
  const { seed, epochSeconds, reach, forgetMs, recentMs } = options
  const demo: Demo = new Demo(scenario, {
    history,
    seed,
    epochSeconds,
    reach,
    forgetMs,
    recentMs,
    asConsole: (source, scenario) => consoleOf(source.monitor, { ...source, scenario }),
    isPaced: options.paced !== false,
    watch: (console) => incidents.watch(console),
  })
  const onScreen = new ActiveView(demo.console)
  const dataDir = options.dataDir ?? (options.historyFile === ':memory:' ? undefined : dirname(options.historyFile))
  const reopen = (): Result<EnforcementStore> => openStore(dataDir)
  const store = reopen()
  const secrets = new SecretStore(secretsFile(dataDir), options.around?.keychain)
  const clusters = new ClusterService({
    onScreen,
    demo,
    dataDir,
    secrets,
    clusters: options.clusters,
    ssh: options.ssh,
    begin: (cluster, nodes) => {
      const begun = beginLive(cluster, nodes, { history: history.beside(), store, reopen, planes: LIVE_PLANES })
      return { ...begun, source: consoleOf(begun.source.monitor, begun.source) }
    },
    record: (server, text) => recordChoice(store, server, text),
    watch: (console) => incidents.watch(console),
  })
  const papers = new Papers()
  const foreign = options.around?.runForeign ? new ForeignFiles(options.around.runForeign) : ForeignFiles.ofNode()
  const timeTravel = new HistoryService({ onScreen, foreign })
  const sandbox = new SandboxService({ onScreen, dataDir })
  const incidents = new IncidentService({
    onScreen,
    dataDir,
    history: timeTravel,
    foreign,
    version: version(),
    store: store.ok ? store.value : undefined,
    run: (id) => sandbox.finishedRun(id),
    stagedRun: () => sandbox.stagedRun(),
    // A caller that drives the clock itself waits for the results.
    isCooperative: options.paced !== false,
  })
  const shell = new ShellService({ shell: options.around, clusters, secrets, alerts: incidents.alerts })
  const about = { version: version(), runtime: `Node ${process.versions.node}` }
  const router = makeRouter({
    onScreen,
    clusters,
    papers,
    sandbox,
    incidents,
    shell,
    facts: () =>
      machineFacts({
        ...about,
        dataDir,
        historyFile: options.historyFile,
        access: clusters.access,
        bundles: incidents.bundles.folder,
        recordings: history.recordings?.folder ?? null,
      }),
    search: new SearchService({ onScreen, clusters, sandbox, incidents }),
    history: timeTravel,
    pump: new FramePump(),
    info: { ...about, shell: options.shell },
  })
  demo.start()
  return ok({
    router,
    onScreen,
    clusters,
    incidents,
    notices: [history.notice, store.ok ? store.value.refusal : store.error].filter((f) => f !== undefined),
    unknownVerb: (peer, verb) =>
      void recordChoice(store, 'this console', `refused ${plainText(peer)}: no verb ${plainText(verb)}`),
    get source() {
      return demo.source
    },
    get monitor() {
      return onScreen.monitor
    },
    close: async () => {
      foreign.close()
      await shell.close()
      incidents.alerts.close()
      papers.close()
      sandbox.close()
      incidents.close()
      await clusters.close()
      if (store.ok) store.value.close()
      await demo.close()
      history.close()
    },
  })
}

/** Records an operator's choice about a server in the audit of commands. Failure: NOT_ON_RECORD. */
function recordChoice(store: Result<EnforcementStore>, server: string, text: string): Result<undefined> {
  const refuse = (why: string): Result<undefined> =>
    fail({
      code: 'NOT_ON_RECORD',
      what: 'It could not be recorded, so it was not done',
      why,
      next: 'Check the data folder, then try again.',
    })
  if (!store.ok) return refuse(store.error.why ?? store.error.what)
  try {
    store.value.audit({ cluster: '' }).write(Date.now(), server, 'mode', text)
    return ok(undefined)
  } catch (e) {
    return refuse(e instanceof Error ? e.message : String(e))
  }
}
