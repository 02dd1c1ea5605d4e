/** What a soak writes down about itself; the judge sees nothing else. */

/** Memory of the process after a forced collection, bytes. */
export interface MemoryLook {
  /** Emulated seconds. */
  readonly atS: number
  readonly heap: number
  /** Array buffers and what libraries hold beside the heap. */
  readonly outside: number
  readonly rss: number
  /** Jobs that the console knows. */
  readonly jobs: number
}

/** Periods of one target. */
export interface TargetPeriods {
  readonly target: string
  readonly expected: number
  /** Periods in which it was measured, and those in which its controller decided. */
  readonly sampled: number
  readonly decided: number
  /** Periods in which a trouble of its server made either impossible. */
  readonly excused: number
  /** Emulated seconds of periods that are missing without an excuse, the first of them. */
  readonly missed: readonly number[]
}

export interface SoakRecord {
  readonly run: {
    readonly seconds: number
    readonly periodMs: number
    readonly seed: number
    /** Emulated seconds a wall second that were asked for, null for as fast as it goes, and those that were reached. */
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
  /** From here on as many jobs leave memory as come into it, emulated seconds. */
  readonly steadyFromS: number
  /** From here on every ring of samples and every table of a server has been gone through once, emulated seconds. */
  readonly fullFromS: number
  readonly samples: {
    readonly expected: number
    readonly taken: number
    /** Samples that do not stand one period behind the one before, by emulated second. */
    readonly displaced: readonly number[]
  }
  readonly targets: readonly TargetPeriods[]
  /** Samples that came later than they were due by the wall clock; the longest first. Empty where nothing paces. */
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
  /** What went wrong: lines on stderr, rejections, warnings, answers of the contract that were refusals. */
  readonly errors: readonly string[]
  /** Rules and timers of the product that are still on servers after the end. */
  readonly leftOnServers: readonly string[]
  /** What keeps the process after everything was closed. */
  readonly handles: readonly string[]
}
