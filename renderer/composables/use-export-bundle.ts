/** The key that makes a bundle: of the notebook on the page, and from other views first to where what leaves can be seen. */
import { useRoute, useRouter } from 'vue-router'
import { useBundleExportStore } from '../stores/bundle-export.ts'
import { useBundleStore } from '../stores/bundle.ts'
import { NO_NOTEBOOK, useIncidentsStore } from '../stores/incidents.ts'

export function useExportBundle(): () => void {
  const [router, route, view] = [useRouter(), useRoute(), useIncidentsStore()]
  const [bundle, exporter] = [useBundleStore(), useBundleExportStore()]
  return () => {
    if (route.name !== 'incidents') {
      view.choose(view.current?.id ?? NO_NOTEBOOK)
      view.isBundleOpen = true
      void router.push({ name: 'incidents' })
    } else if (!view.isBundleHere) view.isBundleOpen = true
    else if (bundle.input !== null && view.frame?.folder && !exporter.isRunning) void exporter.run({ ...bundle.input })
  }
}
