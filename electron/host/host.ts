/**
 * The application: opens the history, connects the cluster and serves the contract. Imports no Electron, so the same host
 * runs in Electron's utility process, behind a browser, in a terminal and in tests.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'
import { loopOptionsOf, parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import { EmulatedSource } from '../cluster/emulated-source.ts'
import { metadataSettingsOf } from '../cluster/metadata-settings.ts'
import { ClusterMonitor } from '../cluster/monitor.ts'
import { Audit } from '../enforce/audit.ts'
import { History } from '../history/history.ts'
import { FramePump } from './frame-pump.ts'
import { LockComparison } from './locks/compare.ts'
import { Papers } from './papers/papers.ts'
import { makeRouter } from './router.ts'
import { resourcePath, version } from './resources.ts'
import { RuleDesk } from './rules/desk.ts'

export interface HostOptions {
  readonly shell: 'desktop' | 'browser' | 'terminal'
  /** Path of the history, or `:memory:`. */
  readonly historyFile: string
  /** Scenario to emulate; the built-in one by default. */
  readonly scenarioFile?: string | undefined
  readonly seed?: number | undefined
  /** false: the emulator stands still until something drives it (tests, headless runs). */
  readonly paced?: boolean | undefined
  /** Unix seconds at virtual time 0; the wall clock's by default, so that the console reads like a live one. */
  readonly epochSeconds?: number | undefined
}

export type Router = ReturnType<typeof makeRouter>

export interface Host {
  readonly router: Router
  readonly monitor: ClusterMonitor
  readonly source: EmulatedSource
  close(): Promise<void>
}

/** Reads a scenario file. Failures: SCENARIO_UNREADABLE, and those of `parseScenario`. */
export function readScenario(file: string): Result<Scenario> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (e) {
    return fail({
      code: 'SCENARIO_UNREADABLE',
      what: `the scenario ${file} cannot be read`,
      why: e instanceof Error ? e.message : String(e),
      next: 'Name a file that exists: --scenario FILE.',
    })
  }
  return parseScenario(text, basename(file))
}

/** Path of the scenario that opens on first start. */
export const demoScenario = (): string => resourcePath(join('scenarios', 'demo.yaml'))

/** Opens the application. Failures: those of the scenario and of the history. */
export async function openHost(options: HostOptions): Promise<Result<Host>> {
  const read = readScenario(options.scenarioFile ?? demoScenario())
  if (!read.ok) return read
  const scenario = read.value
  const opened = History.open(options.historyFile, Date.now())
  if (!opened.ok) return opened
  const history = opened.value
  const source = new EmulatedSource(scenario, {
    seed: options.seed,
    epochSeconds: options.epochSeconds ?? Math.floor(Date.now() / 1000),
  })
  const sinceMs = source.toUnixMs(0)
  history.beginSource('EMULATED', source.cluster, `${scenario.title}, seed ${source.emulator.seed}`, sinceMs)
  const monitor = new ClusterMonitor({
    source,
    history,
    audit: new Audit((r) => history.recordAudit(r), history.lastAudit()),
    session: randomBytes(3).toString('hex'),
    mode: scenario.control.mode,
    controller: scenario.control.controller,
    options: loopOptionsOf(scenario),
    metadata: metadataSettingsOf(scenario),
  })
  const papers = new Papers()
  const comparison = new LockComparison(monitor.locks && scenario, source.emulator.seed)
  const router = makeRouter({
    monitor,
    desk: new RuleDesk(monitor),
    papers,
    comparison,
    pump: new FramePump(),
    facts: {
      scenario: scenario.title,
      seed: source.emulator.seed,
      sinceMs,
      speed: () => source.speed,
      achieved: () => source.achieved,
    },
    info: { version: version(), runtime: `Node ${process.versions.node}`, shell: options.shell },
    setSpeed: (speed) => source.setSpeed(speed),
  })
  if (options.paced !== false) source.start((atNs) => monitor.tick(atNs))
  return ok({
    router,
    monitor,
    source,
    close: async () => {
      papers.close()
      comparison.close()
      await source.stop()
      monitor.close()
      history.close()
    },
  })
}
