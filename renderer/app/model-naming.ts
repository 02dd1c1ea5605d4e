/** What the window is named by while the sandbox is on screen: the model, not the source that goes on behind it. */
import { computed } from 'vue'
import { useRoute } from 'vue-router'
import { useSandboxRunStore } from '../stores/sandbox-run.ts'
import { useSandboxStore } from '../stores/sandbox.ts'
import { useSourceStore } from '../stores/source.ts'
import { originWords } from '../views/sandbox/origin-words.ts'
import { formatNumber, plural } from '../format/units.ts'

export function useModelNaming() {
  const [route, sandbox, runs, source] = [useRoute(), useSandboxStore(), useSandboxRunStore(), useSourceStore()]
  return computed(() => {
    if (route.name !== 'sandbox' || sandbox.origin === null) return null
    const progress = runs.running?.progress
    const result = runs.outcome?.result
    const of = runs.running?.of ?? result?.cost.runs ?? 0
    const bytes = progress?.memoryBytes ?? runs.outcome?.memoryBytes ?? null
    const workers = progress?.workers ?? result?.cost.workers ?? 0
    const seeds = result?.seeds
    return {
      words: originWords(sandbox.origin),
      behind: source.frame ? `${source.frame.source.cluster} goes on in the background` : '',
      runs: of === 0 ? '' : `${progress?.done ?? (runs.running ? 0 : of)} of ${of} runs done`,
      cost:
        workers === 0
          ? ''
          : `${plural(workers, 'worker')}${bytes === null ? '' : `, ${formatNumber(bytes / 1e9, 1)} GB`}`,
      seeds: seeds?.length
        ? `seeds ${seeds[0] ?? 0}\u2013${seeds.at(-1) ?? 0}, +${formatNumber(result?.seconds)} s simulated`
        : '',
    }
  })
}
