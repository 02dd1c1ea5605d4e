/**
 * Watches one source: takes its measured figures once a sample and says which alerts begin, change and end. Holds no clock: time is that
 * of the figures.
 *
 * Quiet times, in which nothing begins: half a minute after the start and after a jump of the clock (this machine slept, sampling stood
 * still) for everything, and what is usual is learnt anew after another controller, mode or rules of an operator.
 */
import type { AlertKind } from '../snapshot/notebook.ts'
import { AlertBook, type Change, type Entry } from './book.ts'
import { ConvoyDetector } from './convoy.ts'
import { DisconnectDetector } from './disconnect.ts'
import type { Figures, Judged } from './figures.ts'
import { Lasting, type Turn } from './lasting.ts'
import { QueueDetector } from './queue.ts'
import { ReservationDetector } from './reservation.ts'
import { KINDS, RULES, USUAL, type Rule } from './rules.ts'
import { StarvationDetector } from './starvation.ts'

/** After the start, and after a jump, ms. */
export const QUIET_MS = 30_000
/** A longer step between two samples is a jump: at least so long, and so many intervals, ms. */
const JUMP_MS = 30_000
const JUMP_INTERVALS = 5

/** How long a subject must be well before its alert is over, ms. */
const HOLD_MS: Readonly<Record<AlertKind, number>> = {
  ...{ queue: 15_000, starvation: 15_000, convoy: 3_000, reservation: 0, disconnect: 5_000 },
}

export class AlertWatch {
  readonly #book: AlertBook
  readonly #queue = new QueueDetector()
  readonly #starvation = new StarvationDetector()
  readonly #convoy = new ConvoyDetector()
  readonly #reservation = new ReservationDetector()
  readonly #disconnect = new DisconnectDetector()
  readonly #lasting: Readonly<Record<AlertKind, Lasting>>
  /** Jobs of stages apart from those of targets: they are looked at at other instants. */
  readonly #staged = new Lasting(HOLD_MS.starvation)
  #rules: readonly Rule[]
  #last: { readonly atMs: number; readonly regime: string } | undefined
  #quietUntilMs = -Infinity

  constructor(newId: () => string, rules: readonly Rule[] = USUAL) {
    this.#book = new AlertBook(newId)
    this.#rules = rules
    const of = (kind: AlertKind): Lasting => new Lasting(HOLD_MS[kind])
    this.#lasting = {
      ...{ queue: of('queue'), starvation: of('starvation'), convoy: of('convoy') },
      ...{ reservation: of('reservation'), disconnect: of('disconnect') },
    }
  }

  /** Those that go on first, newest first. */
  get entries(): readonly Entry[] {
    return this.#book.entries
  }

  /** Other rules from the next look on; what is switched off ends now. */
  setRules(rules: readonly Rule[], atMs: number): Change[] {
    this.#rules = rules
    return KINDS.filter((k) => !this.#ruleOf(k).on).flatMap((k) => this.#drop(k, atMs))
  }

  /** The source is connected anew: what is usual is not known, what went on has ended with the connection. */
  restart(): void {
    this.#last = undefined
  }

  /** Nobody watches any more. */
  close(atMs: number): Change[] {
    return KINDS.flatMap((k) => this.#drop(k, atMs))
  }

  look(figures: Figures): Change[] {
    const { atMs, regime } = figures
    if (this.#last !== undefined && !(atMs > this.#last.atMs)) return []
    this.#settle(figures)
    this.#last = { atMs, regime }
    const changes: Change[] = []
    const take = (kind: AlertKind, judged: readonly Judged[] | undefined, lasting = this.#lasting[kind]): void => {
      const rule = this.#ruleOf(kind)
      if (!judged || !rule.on) return
      const turn = lasting.look(atMs, this.#quieted(judged), rule.forS * 1_000)
      if (isNews(turn)) changes.push(...this.#book.take(kind, atMs, turn))
    }
    const rule = (kind: AlertKind): Rule => this.#ruleOf(kind)
    take('disconnect', this.#disconnect.look(figures, rule('disconnect')))
    take('queue', this.#queue.look(figures, rule('queue')))
    if (figures.jobs) take('starvation', this.#starvation.look({ atMs, jobs: figures.jobs }, rule('starvation')))
    if (figures.staged) take('starvation', this.#starvation.staged(figures.staged, rule('starvation')), this.#staged)
    take('convoy', this.#convoy.look(figures, rule('convoy')))
    take('reservation', this.#reservation.look(figures, rule('reservation')))
    return changes
  }

  #settle({ atMs, intervalMs, regime }: Figures): void {
    const last = this.#last
    const isFirst = last === undefined
    if (isFirst || atMs - last.atMs > Math.max(JUMP_MS, JUMP_INTERVALS * intervalMs)) {
      this.#quietUntilMs = atMs + QUIET_MS
      for (const k of KINDS) this.#lasting[k].forgetPending()
      this.#staged.forgetPending()
    }
    if (isFirst || last.regime !== regime) {
      this.#queue.forget()
      this.#starvation.forget()
      this.#lasting.queue.forgetPending()
      this.#lasting.starvation.forgetPending()
    }
  }

  /** In a quiet time what is high is not believed; what is low may end. */
  #quieted(judged: readonly Judged[]): readonly Judged[] {
    if ((this.#last?.atMs ?? 0) >= this.#quietUntilMs) return judged
    return judged.map((j) => (j.stand === 'high' ? { ...j, stand: 'unknown' as const } : j))
  }

  #drop(kind: AlertKind, atMs: number): Change[] {
    this.#lasting[kind].clear()
    if (kind === 'starvation') this.#staged.clear()
    return this.#book.close(atMs, kind)
  }

  #ruleOf(kind: AlertKind): Rule {
    return this.#rules.find((r) => r.kind === kind) ?? RULES[kind].usual
  }
}

const isNews = ({ began, going, ended }: Turn): boolean => began.length + going.length + ended.length > 0
