/** Name of the data on screen while the sandbox is shown: the model, not the source in the background. */
import { computed } from 'vue'
import { useRoute } from 'vue-router'
import { useSandboxRunStore } from '../stores/sandbox-run.ts'
import { useSandboxStore } from '../stores/sandbox.ts'
import { useSourceStore } from '../stores/source.ts'
import { originText } from '../views/sandbox/origin-text.ts'
import { formatNumber, plural } from '../format/units.ts'

export function useModelNaming() {
  const route = useRoute()
  const sandbox = useSandboxStore()
  const runs = useSandboxRunStore()
  const source = useSourceStore()
  return computed(() => {
    if (route.name !== 'sandbox' || sandbox.origin === null) return null
    const progress = runs.running?.progress
    const result = runs.outcome?.result
    const of = runs.running?.of ?? result?.cost.runs ?? 0
    const bytes = progress?.memoryBytes ?? runs.outcome?.memoryBytes ?? null
    const workers = progress?.workers ?? result?.cost.workers ?? 0
    const seeds = result?.seeds
    return {
      text: originText(sandbox.origin),
      behind: source.frame ? `${source.frame.source.cluster} continues in the background` : '',
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
