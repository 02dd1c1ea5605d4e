/** Emulated cluster with all its planes, watched for alerts and driven by virtual time. For tests. */
import { NS_PER_S } from '#core/base/units.ts'
import type { Change, Entry } from '#core/alerts/alert-store.ts'
import { DEFAULT_ALERT_RULES, type Rule } from '#core/alerts/rules.ts'
import { AlertWatch } from '#core/alerts/watch.ts'
import { loopOptionsOf, parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import { EmulatedSource, metadataSettingsOf } from '#electron/cluster/emulated-source.ts'
import { ClusterMonitor } from '#electron/cluster/monitor.ts'
import { allCollectors } from '#electron/cluster/all-planes.ts'
import { Audit } from '#electron/base/audit.ts'
import { History } from '#electron/history/history.ts'
import { fail } from '#core/base/result.ts'
import { NotebookService } from '#electron/host/incidents/notebook-service.ts'
import { ActiveView } from '#electron/host/active-view.ts'
import { consoleOf, type Console } from '#electron/host/console.ts'
import { watchConsole } from '#electron/host/incidents/alert-service.ts'

/** @throws if the scenario cannot be read. */
export function scenarioOf(given: object): Scenario {
  const read = parseScenario(JSON.stringify(given))
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}

/** Console of a cluster without a driver. */
export function emulatedConsole(
  scenario: Scenario,
  seed = scenario.seed,
): { console: Console; source: EmulatedSource } {
  const source = new EmulatedSource(scenario, { seed, epochSeconds: 0 })
  const history = History.open(':memory:', 0)
  if (!history.ok) throw new Error(history.error.what)
  history.value.beginSource('EMULATED', source.cluster, '', 0)
  const monitor = new ClusterMonitor({
    source,
    history: history.value,
    audit: new Audit(() => undefined),
    session: 'test',
    mode: scenario.control.mode,
    controller: scenario.control.controller,
    options: loopOptionsOf(scenario),
    metadata: metadataSettingsOf(scenario),
    planes: allCollectors,
  })
  const console = consoleOf(monitor, {
    facts: {
      env: 'DEMO',
      sinceMs: 0,
      scenario: scenario.title,
      seed,
      speed: () => 1,
      achieved: () => 1,
      safeMode: () => 'review',
      unlockedUntilMs: () => null,
    },
    setSpeed: undefined,
  })
  return { console, source }
}

export interface ReportedChange extends Pick<Change, 'what'> {
  readonly atS: number
  readonly entry: Entry
}

/** The cluster, and its alerts. */
export function alertedCluster(scenario: Scenario, rules: readonly Rule[] = DEFAULT_ALERT_RULES) {
  const { console, source } = emulatedConsole(scenario)
  const { monitor } = console
  const reported: ReportedChange[] = []
  let ids = 0
  const watch = new AlertWatch(() => `a${++ids}`, rules)
  const watching = watchConsole(console, watch, (changes, atMs) => {
    reported.push(...changes.map(({ what, entry }) => ({ what, atS: atMs / 1_000, entry: { ...entry } })))
  })
  return {
    console,
    monitor,
    source,
    reported,
    watch,
    watching,
    run: (toSecond: number): Promise<void> => source.runTo(toSecond * NS_PER_S, (atNs) => monitor.tick(atNs)),
    opened: (): ReportedChange[] => reported.filter((t) => t.what === 'opened'),
  }
}

/** Notebooks in memory, with an active source. */
export const realNotebooks = (onScreen: Console): NotebookService =>
  new NotebookService({
    onScreen: new ActiveView(onScreen),
    dataDir: undefined,
    changed: () => undefined,
    run: () => fail({ code: 'NO_RUN', what: 'there is no result' }),
    stagedRun: () => fail({ code: 'NO_RUN', what: 'there is no result' }),
  })
