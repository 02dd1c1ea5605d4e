/** Source of the built-in emulator: nodes, monitor and pace. */
import { randomBytes } from 'node:crypto'
import { ok, type Result } from '#core/base/result.ts'
import { loopOptionsOf, type Scenario } from '#core/emulator/scenario.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { EmulatedSource, metadataSettingsOf } from '../../cluster/emulated-source.ts'
import { ClusterMonitor } from '../../cluster/monitor.ts'
import { allCollectors } from '../../cluster/all-planes.ts'
import { Audit } from '../../base/audit.ts'
import { demoScenario } from '../../files/resources.ts'
import { History } from '../../history/history.ts'
import { RuleService } from '../rules/rule-service.ts'
import { readScenario } from '../scenario-file.ts'
import type { OpenSource, Source } from './source.ts'

export interface EmulatedOptions {
  readonly history: History
  readonly seed?: number | undefined
  /** Unix seconds at virtual time 0; the wall clock's by default, so that timestamps look live. */
  readonly epochSeconds?: number | undefined
  /** Wraps the connections to the emulated nodes: direct unless a test or a soak inserts a worse line. */
  readonly reach?: ((node: NodeConnection) => NodeConnection) | undefined
  readonly forgetMs?: number | undefined
  readonly recentMs?: number | undefined
}

export interface BegunEmulation {
  readonly source: Source
  /** Nodes and virtual clock of the emulator; paused until it is started or driven. */
  readonly emulated: EmulatedSource
  /** Follows the wall clock. */
  start(): void
  /** Ends the source; its history stays open. */
  close(): Promise<void>
}

/** Distinguishes the timers of different starts. */
const session = (): string => randomBytes(3).toString('hex')

export function beginEmulated(scenario: Scenario, options: EmulatedOptions): BegunEmulation {
  const { history, seed: wanted, reach, forgetMs, recentMs } = options
  const epochSeconds = options.epochSeconds ?? Math.floor(Date.now() / 1000)
  const emulated = new EmulatedSource(scenario, { seed: wanted, epochSeconds }, reach)
  const { seed } = emulated.emulator
  const sinceMs = emulated.toUnixMs(0)
  history.beginSource('EMULATED', emulated.cluster, `${scenario.title}, seed ${seed}`, sinceMs)
  const monitor = new ClusterMonitor({
    source: emulated,
    history,
    session: session(),
    audit: new Audit((r) => history.recordAudit(r), history.lastAudit()),
    mode: scenario.control.mode,
    controller: scenario.control.controller,
    options: loopOptionsOf(scenario),
    metadata: metadataSettingsOf(scenario),
    planes: allCollectors,
    forgetMs,
    recentMs,
  })
  const source: Source = {
    monitor,
    ruleService: new RuleService(monitor),
    facts: {
      env: 'DEMO',
      sinceMs,
      scenario: scenario.title,
      seed,
      speed: () => emulated.speed,
      achieved: () => emulated.achieved,
      safeMode: () => 'review',
      unlockedUntilMs: () => null,
    },
    setSpeed: (speed) => emulated.setSpeed(speed),
  }
  return {
    source,
    emulated,
    start: () => emulated.start((atNs) => monitor.tick(atNs)),
    close: async () => {
      await emulated.stop()
      monitor.close()
    },
  }
}

/** Opens the emulator alone, following the wall clock. Failures: those of the scenario. */
export function openEmulator(scenarioFile: string = demoScenario()): Result<OpenSource> {
  const scenario = readScenario(scenarioFile)
  if (!scenario.ok) return scenario
  const opened = History.open(':memory:', Date.now())
  if (!opened.ok) return opened
  const history = opened.value
  const emulation = beginEmulated(scenario.value, { history })
  const { source, emulated } = emulation
  emulation.start()
  return ok({
    name: emulated.cluster,
    source,
    servers: [],
    notices: [],
    close: async () => {
      await emulation.close()
      history.close()
    },
  })
}
