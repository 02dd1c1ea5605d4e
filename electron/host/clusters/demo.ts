/** The demo: the emulator as a source. It plays one scenario at a time; another one replaces it, with a new clock. */
import { SERVICE_NAMES } from '#core/api/rule-edits.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import type { EmulatedSource } from '../../cluster/emulated-source.ts'
import type { History } from '../../history/history.ts'
import type { Console } from '../console.ts'
import { beginEmulated, type BegunEmulation, type EmulatedOptions } from '../sources/emulated.ts'
import type { Source } from '../sources/source.ts'

/**
 * Scenario with plans that are shown and not written. The heavy job slows down the others, until a limit or the
 * controller is tried on it.
 */
export const uncontrolled = (scenario: Scenario): Scenario => ({
  ...scenario,
  control: { ...scenario.control, mode: 'advise' },
})

interface DemoParts extends EmulatedOptions {
  /** false: something else drives it. */
  readonly isPaced: boolean
  readonly asConsole: (source: Source, emulation: { readonly scenario: Scenario; readonly seed: number }) => Console
  /** Watches the source while it plays; returns the stop function. */
  readonly watch: (console: Console) => () => void
}

interface Playing {
  readonly emulation: BegunEmulation
  readonly console: Console
  /** Its own; undefined: that of the host. */
  readonly history: History | undefined
}

export class Demo {
  readonly #parts: DemoParts
  #playing: Playing
  #unwatch: (() => void) | undefined

  constructor(scenario: Scenario, parts: DemoParts) {
    this.#parts = parts
    this.#playing = this.#begin(scenario, parts.epochSeconds)
  }

  get console(): Console {
    return this.#playing.console
  }

  get source(): EmulatedSource {
    return this.#playing.emulation.emulated
  }

  /** Watches it, and follows the wall clock if it is paced. */
  start(): void {
    this.#unwatch = this.#parts.watch(this.console)
    if (this.#parts.isPaced) this.#playing.emulation.start()
  }

  /**
   * Plays a scenario in place of the present one, whose state is lost.
   *
   * @param text     of the scenario.
   * @param isTaken  whether a cluster has that name.
   * @param show     makes the new console the active one.
   *
   * Failures: those of the scenario; CLUSTER_NAME; BUSY; STAGED.
   */
  async play(
    text: string,
    { isTaken, show }: { readonly isTaken: (cluster: string) => boolean; readonly show: (console: Console) => void },
  ): Promise<Result<undefined>> {
    const what = 'The scenario was not started'
    const read = parseScenario(text)
    if (!read.ok) {
      const { code, line, why } = read.error
      return fail({ code, what, why: `line ${line}: ${why ?? ''}`, next: 'Open it in the sandbox and correct it.' })
    }
    const refuse = (code: string, why: string, next: string): Result<undefined> =>
      fail({ code, what, why, unaffected: 'The current scenario continues.', next })
    const { cluster } = read.value
    if (isTaken(cluster)) {
      return refuse(
        'CLUSTER_NAME',
        `its cluster is called ${cluster}, as is one in Connections`,
        'Save it with another name under cluster.',
      )
    }
    const before = this.#playing
    const { ruleService, monitor } = before.console
    if (ruleService.isSending) return refuse('BUSY', 'a change is being sent', 'Wait until it ends.')
    const { staged, policies } = ruleService
    if (staged.count > 0 || SERVICE_NAMES.some((service) => policies.has(service))) {
      return refuse('STAGED', `changes are staged on ${monitor.source.cluster}`, 'Commit or discard them.')
    }
    // The clock of a cluster does not go back: an accelerated run is ahead of the wall clock.
    const endS = monitor.source.cluster === cluster ? Math.ceil(monitor.nowMs() / 1000) + 1 : -Infinity
    const beginS = this.#parts.epochSeconds ?? Math.floor(Date.now() / 1000)
    this.#unwatch?.()
    this.#playing = this.#begin(uncontrolled(read.value), Math.max(beginS, endS), this.#parts.history.beside())
    show(this.console)
    this.start()
    await end(before)
    return ok(undefined)
  }

  close(): Promise<void> {
    return end(this.#playing)
  }

  #begin(scenario: Scenario, epochSeconds: number | undefined, history?: History): Playing {
    const { seed, reach, forgetMs, recentMs } = this.#parts
    const options = { history: history ?? this.#parts.history, seed, epochSeconds, reach, forgetMs, recentMs }
    const emulation = beginEmulated(scenario, options)
    const drawn = emulation.emulated.emulator.seed
    return { emulation, console: this.#parts.asConsole(emulation.source, { scenario, seed: drawn }), history }
  }
}

async function end({ emulation, console, history }: Playing): Promise<void> {
  console.comparison.close()
  await emulation.close()
  history?.close()
}
