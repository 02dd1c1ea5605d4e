/**
 * Runs of the sandbox: start, progress, last result and its use. A run belongs to the window: other views can be shown
 * meanwhile.
 */
import { defineStore } from 'pinia'
import { computed, reactive, ref, shallowRef, watch } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import { SEEDS_MAX, type RunEvent, type RunResult } from '#core/api/sandbox.ts'
import { useConnectionStore } from './connection.ts'
import { useOutageStore } from './outage.ts'
import { noHost, refusal } from './refusal.ts'
import { useSandboxStore, type Workload } from './sandbox.ts'
import { useSandboxVariantsStore, type VariantEntry } from './sandbox-variants.ts'
import { useSourceStore } from './source.ts'

type Progress = Extract<RunEvent, { kind: 'progress' }>
export type RunEnd =
  | { readonly kind: 'cancelled'; readonly progress: Progress | null }
  | { readonly kind: 'failed'; readonly notice: Notice }
/** Result with its variants. */
export interface Outcome {
  readonly result: RunResult
  readonly ran: readonly VariantEntry[]
  readonly text: string
  readonly memoryBytes: number | null
}

const NOT_RUN = 'The variants were not run'
const UNAFFECTED = 'the cluster, its rules and the scenario'
/** Longest verdict stored with a staged change. */
const VERDICT_MAX = 500

/** Verdict as one sentence. */
export const sentence = ({ verdict }: RunResult): string => verdict.parts.map((part) => part.text).join('')

export const useSandboxRunStore = defineStore('sandbox-run', () => {
  const connection = useConnectionStore()
  const source = useSourceStore()
  const outages = useOutageStore()
  const sandbox = useSandboxStore()
  const variants = useSandboxVariantsStore()
  const options = reactive({ seconds: 60, seeds: 20, firstSeed: 1, sloWaitMs: 500 })
  const running = shallowRef<{ readonly progress: Progress | null; readonly of: number } | null>(null)
  const outcome = shallowRef<Outcome | null>(null)
  const end = shallowRef<RunEnd | null>(null)
  /** Outcome of the last action on the result: refusal or confirmation. */
  const notice = shallowRef<Notice | null>(null)
  const done = ref('')
  let abort: AbortController | null = null

  watch(
    () => sandbox.loads,
    () => {
      abort?.abort()
      running.value = outcome.value = end.value = notice.value = null
      done.value = ''
    },
    { flush: 'sync' },
  )

  /** Reason why it cannot be run now; null if it can. */
  const fault = computed((): string | null => {
    const { check } = sandbox
    if (connection.host === null) return 'The Sluice host is not connected'
    if (!sandbox.hasScenario || check === null) return 'No scenario'
    if (!sandbox.isChecked) return 'The scenario is being checked'
    const [first] = check.faults
    if (first) return `The scenario has an error in line ${first.line}`
    const nameless = variants.entries.findIndex(({ variant }) => variant.name.trim() === '')
    if (nameless >= 0) return 'A variant has no name'
    if (!(options.seconds >= 1 && options.seconds <= 86_400)) return 'Run length must be 1 to 86 400 s'
    if (!(Number.isInteger(options.seeds) && options.seeds >= 1 && options.seeds <= SEEDS_MAX))
      return `1 to ${SEEDS_MAX} seeds`
    if (!(Number.isInteger(options.firstSeed) && options.firstSeed >= 0)) return 'A seed is an integer from 0 on'
    if (!(options.sloWaitMs > 0)) return 'The wait objective must be above 0 ms'
    return null
  })
  /** True if the scenario or its variants differ from those of the result. */
  const isOutdated = computed(() => {
    const last = outcome.value
    if (last === null) return false
    return last.text !== sandbox.text || JSON.stringify(last.ran) !== JSON.stringify(variants.entries)
  })

  async function follow(ran: readonly VariantEntry[], signal: AbortSignal): Promise<RunEnd | null> {
    if (connection.host === null) return { kind: 'failed', notice: noHost(NOT_RUN) }
    const { text } = sandbox
    const input = { ...options, text, variants: ran.map(({ variant }) => variant) }
    const events = await connection.host.api.sandbox.run(input, { signal })
    let memoryBytes: number | null = null
    for await (const event of events) {
      if (signal.aborted) break
      if (event.kind === 'failed') return event
      if (event.kind === 'result') {
        outcome.value = { result: event.result, ran, text, memoryBytes }
        return null
      }
      memoryBytes = event.memoryBytes
      running.value = { progress: event, of: event.of }
    }
    const why = 'the Sluice host ended it without a result'
    return { kind: 'failed', notice: { code: 'NOT_DONE', what: NOT_RUN, why, unaffected: UNAFFECTED } }
  }

  /** Runs all variants and stores the result or failure. */
  async function run(): Promise<void> {
    if (running.value !== null || fault.value !== null) return
    const mine = (abort = new AbortController())
    const load = sandbox.loads
    const ran = variants.entries
    running.value = { progress: null, of: ran.length * options.seeds }
    end.value = notice.value = null
    done.value = ''
    let last: RunEnd | null
    try {
      last = await follow(ran, mine.signal)
    } catch (error) {
      last = { kind: 'failed', notice: { unaffected: UNAFFECTED, ...refusal(NOT_RUN, error) } }
    }
    if (load !== sandbox.loads) return
    if (last !== null && mine.signal.aborted) last = { kind: 'cancelled', progress: running.value?.progress ?? null }
    end.value = last
    running.value = null
  }
  const cancel = (): void => abort?.abort()

  /** Forks the live state at the cursor and runs it; asks about unsaved changes of a scenario first. */
  function dryRun(workload: Workload = 'closed', more?: () => void): void {
    sandbox.guarded(
      () =>
        void sandbox.fork(null, workload).then((forked) => {
          if (forked === null) return
          more?.()
          void run()
        }),
    )
  }

  /** Reason why variant `at` of the result cannot be staged; null if it can. */
  function stageFault(at: number): string | null {
    const { origin } = sandbox
    const cluster = source.frame?.source.cluster
    if (connection.host === null) return 'The Sluice host is not connected'
    if (outages.outage !== null) return `No connection to ${outages.outage.name}`
    if (source.frame?.playback) return 'A recording is open: nothing can be staged'
    if (origin?.kind !== 'fork') return 'The scenario is not a fork of a cluster'
    if (origin.cluster !== cluster) return `The fork is of ${origin.cluster}, but ${cluster ?? 'no cluster'} is active`
    if (outcome.value?.ran[at] === undefined) return 'Not run yet'
    return null
  }
  /** @returns  number of changes staged for it, null if refused. */
  async function stage(at: number): Promise<number | null> {
    const last = outcome.value
    const ran = last?.ran[at]
    if (last === null || ran === undefined || connection.host === null) return null
    notice.value = null
    done.value = ''
    try {
      const verdict = sentence(last.result).slice(0, VERDICT_MAX)
      const answer = await connection.host.api.sandbox.stage({ variant: ran.variant, verdict, run: last.result.id })
      done.value = answer.text
      return answer.staged
    } catch (error) {
      notice.value = refusal('The variant was not staged', error)
      return null
    }
  }
  async function exported(format: 'csv' | 'json' | 'md'): Promise<{ name: string; text: string } | null> {
    const last = outcome.value
    if (last === null) return null
    const what = 'The comparison was not exported'
    try {
      if (connection.host === null) notice.value = noHost(what)
      else return await connection.host.api.sandbox.export({ id: last.result.id, format })
    } catch (error) {
      notice.value = refusal(what, error)
    }
    return null
  }

  return {
    options,
    running,
    outcome,
    end,
    notice,
    done,
    fault,
    isOutdated,
    run,
    cancel,
    dryRun,
    stageFault,
    stage,
    exported,
  }
})
