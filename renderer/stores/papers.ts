/**
 * Paper experiments: the selected one, the running one, and the results of this session. A run belongs to the window:
 * other views can be shown meanwhile.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { PaperExperiment, PapersProgress, PapersResult } from '#core/api/papers.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'

export interface PapersRun {
  readonly experiment: string
  readonly seeds: readonly number[]
  /** null until its thread has started. */
  readonly progress: PapersProgress | null
}

/** End of the last run of an experiment without a result. */
export type PapersEnd =
  | { readonly kind: 'cancelled'; readonly progress: PapersProgress | null }
  | { readonly kind: 'failed'; readonly notice: Notice }

const NOT_RUN = 'The experiment was not run'

export const usePapersStore = defineStore('papers', () => {
  const connection = useConnectionStore()
  const experiments = shallowRef<readonly PaperExperiment[]>([])
  /** Reason why the list is missing. */
  const listNotice = shallowRef<Notice | null>(null)
  const chosenId = ref('')
  const chosen = computed(() => experiments.value.find(({ id }) => id === chosenId.value) ?? experiments.value[0])
  const seedsText = ref('1-5')
  /** Results by experiment; kept while the window is open. */
  const results = shallowRef<ReadonlyMap<string, PapersResult>>(new Map())
  const ends = shallowRef<ReadonlyMap<string, PapersEnd>>(new Map())
  const running = shallowRef<PapersRun | null>(null)
  let abort: AbortController | null = null

  async function load(): Promise<void> {
    if (connection.host === null) return
    try {
      experiments.value = (await connection.host.api.papers.list()).experiments
      listNotice.value = null
    } catch (error) {
      listNotice.value = refusal('The experiments were not loaded', error)
    }
  }

  /** Selects the experiment `by` places further down the list, clamped to the ends. */
  function step(by: number): void {
    const at = experiments.value.findIndex(({ id }) => id === chosen.value?.id)
    const next = experiments.value[Math.max(0, Math.min(experiments.value.length - 1, at + by))]
    if (next) chosenId.value = next.id
  }

  const endWith = (id: string, end: PapersEnd | null): void => {
    const next = new Map(ends.value)
    if (end === null) next.delete(id)
    else next.set(id, end)
    ends.value = next
  }

  async function follow(experiment: string, seeds: readonly number[], signal: AbortSignal): Promise<PapersEnd | null> {
    if (connection.host === null) return { kind: 'failed', notice: noHost(NOT_RUN) }
    const events = await connection.host.api.papers.run({ experiment, seeds: [...seeds] }, { signal })
    for await (const event of events) {
      if (event.kind === 'failed') return event
      if (event.kind === 'result') {
        results.value = new Map(results.value).set(experiment, event)
        return null
      }
      running.value = { experiment, seeds, progress: event }
    }
    const why = 'the Sluice host ended it without a result'
    return { kind: 'failed', notice: { code: 'NOT_DONE', what: NOT_RUN, why } }
  }

  /** Runs one experiment and stores its result or failure. */
  async function run(experiment: string, seeds: readonly number[]): Promise<void> {
    if (running.value !== null) return
    const { signal } = (abort = new AbortController())
    running.value = { experiment, seeds, progress: null }
    endWith(experiment, null)
    const cancelled = (): PapersEnd => ({ kind: 'cancelled', progress: running.value?.progress ?? null })
    let end: PapersEnd | null
    try {
      end = await follow(experiment, seeds, signal)
      if (end !== null && signal.aborted) end = cancelled()
    } catch (error) {
      end = signal.aborted ? cancelled() : { kind: 'failed', notice: refusal(NOT_RUN, error) }
    }
    endWith(experiment, end)
    running.value = null
  }

  const cancel = (): void => abort?.abort()

  return { experiments, listNotice, chosen, chosenId, seedsText, results, ends, running, load, step, run, cancel }
})
