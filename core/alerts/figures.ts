/**
 * What alerts are judged by: measured figures of one source at one instant, nothing else. NaN is a gap. Times are Unix ms on the
 * source's clock.
 */

/** Jobs are looked at once in so long, over means of it: what comes and goes within is no news. */
export const JOB_BIN_MS = 5_000

export interface ServerFigures {
  readonly host: string
  /** Requests that wait in the policies of its service; NaN where that was not read. */
  readonly queued: number
  /** Why it does not answer, and since when; empty while it does. */
  readonly silent: string
  readonly silentSinceMs?: number | undefined
}

/** Who asked for more than before. */
export interface Grown {
  readonly job: string
  /** Data RPC/s more than before. */
  readonly by: number
}

/** Jobs over the last bin, as columns of one length. */
export interface JobFigures {
  readonly ids: readonly string[]
  /** Data RPC/s served; NaN where one of its targets was not measured. */
  readonly served: ArrayLike<number>
  /** Share of the time at the limit of a rule that a controller holds, 0..1; NaN without one. */
  readonly held: ArrayLike<number>
  /** Servers of its targets, as indices into `servers`. */
  readonly serversOf: (job: number) => readonly number[]
  /** What it is due in proportion to: its nodes, 1 where they are not known. */
  readonly weightOf: (job: number) => number
  readonly servers: readonly { readonly host: string; readonly queued: number; readonly served: number }[]
}

/** A job whose operations pass stages: they count what waits. */
export interface StagedFigures {
  readonly job: string
  readonly scope: string
  /** op/s measured, and op/s that it asks for. */
  readonly measured: number
  readonly asked: number
  /** Operations that wait in its stages. */
  readonly queued: number
  /** op/s of the scope in all, and jobs that ask for any of it. */
  readonly limit: number
  readonly askers: number
}

export interface ConvoyFigures {
  /** Tells resources apart; `name` is what people call it. */
  readonly key: string
  readonly name: string
  /** Locks that wait, at most at once since the sample before. */
  readonly waiting: number
  /** Locks that count as one waiter: 1, or more where only the locks of many resources are counted together. */
  readonly per: number
  /** Mode that they wait behind; empty where that is not told. */
  readonly behind: string
}

export interface ReservationFigures {
  readonly node: string
  readonly client: string
  readonly job: string
  /** Whole periods in a row in which it asked for its reservation and did not get it; NaN: not known. When the first of them began. */
  readonly missed: number
  readonly sinceMs: number
  /** I/O of the last whole period, and reserved for it. */
  readonly completed: number
  readonly reservation: number
}

export interface Figures {
  readonly atMs: number
  readonly intervalMs: number
  /** Another text as soon as what is usual may be something else: another controller, mode, or rules of an operator. */
  readonly regime: string
  readonly servers: readonly ServerFigures[]
  /** undefined between two bins. */
  readonly jobs?: JobFigures | undefined
  /** undefined: not known. */
  readonly staged?: readonly StagedFigures[] | undefined
  readonly convoys?: readonly ConvoyFigures[] | undefined
  readonly reservations?: readonly ReservationFigures[] | undefined
  /** Who grew most on a server since an instant; undefined: nobody, or it is not known. */
  readonly grown?: ((host: string, sinceMs: number) => Grown | undefined) | undefined
}

/** Whether a subject is above its level, between there and where it would be over, below that, or not known. */
export type Stand = 'high' | 'held' | 'low' | 'unknown'

/** What a detector says of one subject at one instant. */
export interface Judged {
  readonly subject: string
  readonly stand: Stand
  /** Measured, in the unit of the threshold. */
  readonly measure: number
  /** Server, job, client or resource. */
  readonly where: string
  readonly level: 'watch' | 'bad'
  /** When it began, where that is measured. */
  readonly sinceMs?: number | undefined
  readonly words: () => string
}

/** Above a level until below half of it, so that what wavers around it is one alert. */
export const standOf = (measure: number, level: number): Stand =>
  Number.isNaN(measure) ? 'unknown' : measure >= level ? 'high' : measure >= level / 2 ? 'held' : 'low'
