/**
 * Alert watch of one source: takes its figures once a sample and reports the alerts that begin, change and end. Has no own clock;
 * time is that of the figures.
 *
 * Quiet times, in which no alert begins: 30 s after the start and after a clock jump (console suspended, sampling paused). Baselines are
 * learned again after a change of controller, mode or operator rules.
 */
import type { AlertKind } from '../snapshot/notebook.ts'
import { AlertStore, type Change, type Entry } from './alert-store.ts'
import { ConvoyDetector, DisconnectDetector, judgeLevels, ReservationDetector } from './detectors.ts'
import type { Figures, Judgement } from './figures.ts'
import { AlertHysteresis, type HysteresisChanges } from './hysteresis.ts'
import { QueueDetector } from './queue.ts'
import { KINDS, LEVEL_KINDS, RULES, DEFAULT_ALERT_RULES, type Rule } from './rules.ts'
import { StarvationDetector } from './starvation.ts'

/** Quiet time after the start and after a jump, ms. */
export const QUIET_MS = 30_000
/** A step between two samples of more than this time and more than this many intervals is a jump, ms. */
const JUMP_MS = 30_000
const JUMP_INTERVALS = 5

export class AlertWatch {
  readonly #store: AlertStore
  readonly #queue = new QueueDetector()
  readonly #starvation = new StarvationDetector()
  readonly #convoy = new ConvoyDetector()
  readonly #reservation = new ReservationDetector()
  readonly #disconnect = new DisconnectDetector()
  readonly #lasting = new Map(KINDS.map((k) => [k, new AlertHysteresis(1_000 * RULES[k].holdS)]))
  /** Jobs of stages, separate from jobs of targets: they are judged at other times. */
  readonly #staged = new AlertHysteresis(1_000 * RULES.starvation.holdS)
  #rules: readonly Rule[]
  #last: { readonly atMs: number; readonly regime: string } | undefined
  #quietUntilMs = -Infinity

  constructor(newId: () => string, rules: readonly Rule[] = DEFAULT_ALERT_RULES) {
    this.#store = new AlertStore(newId)
    this.#rules = rules
  }

  /** Active entries first, newest first. */
  get entries(): readonly Entry[] {
    return this.#store.entries
  }

  /** Applies new rules from the next sample on; alerts of rules that are switched off end now. */
  setRules(rules: readonly Rule[], atMs: number): Change[] {
    this.#rules = rules
    return KINDS.filter((k) => !this.#ruleOf(k).on).flatMap((k) => this.#drop(k, atMs))
  }

  /** Starts over after a reconnect: baselines are unknown, and alerts ended with the connection. */
  restart(): void {
    this.#last = undefined
  }

  /** Ends all alerts when the watch is closed. */
  close(atMs: number): Change[] {
    return KINDS.flatMap((k) => this.#drop(k, atMs))
  }

  look(figures: Figures): Change[] {
    const { atMs, regime } = figures
    if (this.#last !== undefined && !(atMs > this.#last.atMs)) return []
    this.#settle(figures)
    this.#last = { atMs, regime }
    const changes: Change[] = []
    const take = (
      kind: AlertKind,
      judged: readonly Judgement[] | undefined,
      lasting = this.#lasting.get(kind),
    ): void => {
      const rule = this.#ruleOf(kind)
      if (!judged || !lasting || !rule.on) return
      const transitions = lasting.look(atMs, this.#quieted(judged), rule.forS * 1_000)
      if (isNews(transitions)) changes.push(...this.#store.take(kind, atMs, transitions))
    }
    const rule = (kind: AlertKind): Rule => this.#ruleOf(kind)
    take('disconnect', this.#disconnect.look(figures, rule('disconnect')))
    take('queue', this.#queue.look(figures, rule('queue')))
    if (figures.jobs) take('starvation', this.#starvation.look({ atMs, jobs: figures.jobs }, rule('starvation')))
    if (figures.staged) take('starvation', this.#starvation.staged(figures.staged, rule('starvation')), this.#staged)
    take('convoy', this.#convoy.look(figures, rule('convoy')))
    take('reservation', this.#reservation.look(figures, rule('reservation')))
    for (const kind of LEVEL_KINDS) take(kind, judgeLevels(figures.levels, kind, rule(kind)))
    return changes
  }

  #settle({ atMs, intervalMs, regime }: Figures): void {
    const last = this.#last
    const isFirst = last === undefined
    if (isFirst || atMs - last.atMs > Math.max(JUMP_MS, JUMP_INTERVALS * intervalMs)) {
      this.#quietUntilMs = atMs + QUIET_MS
      for (const lasting of this.#lasting.values()) lasting.forgetPending()
      this.#staged.forgetPending()
    }
    if (isFirst || last.regime !== regime) {
      this.#queue.forget()
      this.#starvation.forget()
      this.#lasting.get('queue')?.forgetPending()
      this.#lasting.get('starvation')?.forgetPending()
    }
  }

  /** During a quiet time `high` is ignored; `low` can still end an alert. */
  #quieted(judged: readonly Judgement[]): readonly Judgement[] {
    if ((this.#last?.atMs ?? 0) >= this.#quietUntilMs) return judged
    return judged.map((j) => (j.condition === 'high' ? { ...j, condition: 'unknown' as const } : j))
  }

  #drop(kind: AlertKind, atMs: number): Change[] {
    this.#lasting.get(kind)?.clear()
    if (kind === 'starvation') this.#staged.clear()
    return this.#store.close(atMs, kind)
  }

  #ruleOf(kind: AlertKind): Rule {
    return this.#rules.find((r) => r.kind === kind) ?? RULES[kind].usual
  }
}

const isNews = ({ began, going, ended }: HysteresisChanges): boolean => began.length + going.length + ended.length > 0
