/** Key that exports a bundle of the current notebook; from other views it first opens the preview of the contents. */
import { useRoute, useRouter } from 'vue-router'
import { useBundleExportStore } from '../stores/bundle-export.ts'
import { useBundleStore } from '../stores/bundle.ts'
import { NO_NOTEBOOK, useIncidentsStore } from '../stores/incidents.ts'

export function useExportBundle(): () => void {
  const router = useRouter()
  const route = useRoute()
  const view = useIncidentsStore()
  const bundle = useBundleStore()
  const exporter = useBundleExportStore()
  return () => {
    if (route.name !== 'incidents') {
      view.choose(view.current?.id ?? NO_NOTEBOOK)
      view.isBundleOpen = true
      void router.push({ name: 'incidents' })
    } else if (!view.isBundleHere) view.isBundleOpen = true
    else if (bundle.input !== null && view.frame?.folder && !exporter.isRunning) void exporter.run({ ...bundle.input })
  }
}
