/** Record of a soak run, the only input of the judge. */

/** Memory of the process after a forced collection, bytes. */
export interface MemoryLook {
  /** Emulated seconds. */
  readonly atS: number
  readonly heap: number
  /** Array buffers and memory of libraries outside the heap. */
  readonly outside: number
  readonly rss: number
  /** Number of jobs known to the console. */
  readonly jobs: number
}

/** Periods of one target. */
export interface TargetPeriods {
  readonly target: string
  readonly expected: number
  /** Periods in which it was measured, and in which its controller decided. */
  readonly sampled: number
  readonly decided: number
  /** Periods in which a trouble of its server prevented either. */
  readonly excused: number
  /** Emulated seconds of missing periods without an excuse; the first of them only. */
  readonly missed: readonly number[]
}

export interface SoakRecord {
  readonly run: {
    readonly seconds: number
    readonly periodMs: number
    readonly seed: number
    /** Requested emulated seconds per wall second, null for unpaced, and the achieved value. */
    readonly speed: number | null
    readonly reached: number
    readonly wallS: number
    readonly cpuS: number
  }
  readonly jobs: {
    readonly started: number
    readonly seen: number
    readonly most: number
    readonly forgetS: number
    readonly overdue: number
  }
  readonly memory: readonly MemoryLook[]
  /** Emulated second from which as many jobs leave memory as enter it. */
  readonly steadyFromS: number
  /** Emulated second from which every ring of samples and every table of a server has wrapped once. */
  readonly fullFromS: number
  readonly samples: {
    readonly expected: number
    readonly taken: number
    /** Samples not exactly one period after the one before, by emulated second. */
    readonly displaced: readonly number[]
  }
  readonly targets: readonly TargetPeriods[]
  /** Samples later than due by the wall clock, longest first. Empty if unpaced. */
  readonly late: readonly { readonly atS: number; readonly byMs: number }[]
  readonly troubles: Readonly<Record<string, number>>
  readonly file: {
    readonly quota: number
    readonly mostUsed: number
    readonly mostOnDisk: number
    readonly evictedSamples: number
    readonly evictions: Readonly<Record<string, number>>
  }
  readonly window: {
    readonly frames: number
    readonly views: number
    readonly exports: number
    readonly incidents: number
  }
  readonly plans: { readonly sent: number; readonly unknown: readonly string[] }
  readonly audit: { readonly records: number; readonly broken: number | undefined }
  /** Errors: lines on stderr, rejections, warnings, refusals by the contract. */
  readonly errors: readonly string[]
  /** Rules and timers of Sluice left on servers after the end. */
  readonly leftOnServers: readonly string[]
  /** Handles that keep the process alive after everything was closed. */
  readonly handles: readonly string[]
}
