/** State of the window that the steps of the tour check. */
import { computed } from 'vue'
import { useRoute } from 'vue-router'
import { useBundleExportStore } from '../../stores/bundle-export.ts'
import { useIncidentsStore } from '../../stores/incidents.ts'
import { useRulesViewStore } from '../../stores/rules-view.ts'
import { useSandboxRunStore } from '../../stores/sandbox-run.ts'
import { useSelectionStore } from '../../stores/selection.ts'
import { useSourceStore } from '../../stores/source.ts'
import { useTimeStore } from '../../stores/time.ts'
import type { TourState } from '../../stores/tour-steps.ts'

export function useTourWorld() {
  const route = useRoute()
  const source = useSourceStore()
  const time = useTimeStore()
  const selection = useSelectionStore()
  const runs = useSandboxRunStore()
  const rules = useRulesViewStore()
  const incidents = useIncidentsStore()
  const bundles = useBundleExportStore()
  return computed((): TourState => ({
    route: String(route.name ?? ''),
    controller: source.frame?.controller ?? '',
    isEnforced: source.frame?.mode === 'enforce',
    isPaused: time.isPaused,
    hasJob: selection.inspectorOpen && selection.jobId !== null,
    run: runs.outcome?.result.id ?? null,
    staged: source.frame?.staged ?? 0,
    isReviewOpen: rules.isReviewOpen,
    expiry: source.frame?.nextExpiry?.name ?? null,
    isUndoOpen: rules.isUndoOpen,
    filed: incidents.filed?.id ?? null,
    bundle: bundles.end?.kind === 'done' ? bundles.end.name : null,
  }))
}
