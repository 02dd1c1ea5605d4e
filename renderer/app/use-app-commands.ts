/**
 * Global commands. A view's own commands come first, so that a view may give one of these keys a meaning of its own.
 */
import { useRoute, useRouter } from 'vue-router'
import { useCommands, type Handlers } from '../composables/use-commands.ts'
import { useDryRun } from '../composables/use-dry-run.ts'
import { useBundleExportStore } from '../stores/bundle-export.ts'
import { useBundleStore } from '../stores/bundle.ts'
import { NO_NOTEBOOK, useIncidentsStore } from '../stores/incidents.ts'
import { useProposal } from '../composables/use-propose.ts'
import { announce } from '../composables/announcements.ts'
import { useCompareStore } from '../stores/compare.ts'
import { useEnforcementStore } from '../stores/enforcement.ts'
import { useNoteStore } from '../stores/note.ts'
import { useSelectionStore } from '../stores/selection.ts'
import { useSourceStore } from '../stores/source.ts'
import { useTimeStore } from '../stores/time.ts'
import { visitedViews } from '../commands/views.ts'

const NOT_WRITTEN = 'A recording is open: there is no server to write to'

/** Key that exports a bundle of the current notebook; from other views it first opens the preview of the contents. */
function useExportBundle(): () => void {
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

export function useAppCommands(open: { palette: () => void; goTo: () => void; help: () => void }): void {
  const router = useRouter()
  const time = useTimeStore()
  const selection = useSelectionStore()
  const compare = useCompareStore()
  const note = useNoteStore()
  const enforcement = useEnforcementStore()
  const source = useSourceStore()
  const dryRun = useDryRun()
  const exportBundle = useExportBundle()
  const propose = useProposal()
  const go: Handlers = Object.fromEntries(
    visitedViews.map(({ id }) => [`frame.${id}`, () => void router.push({ name: id })]),
  )
  /** Lock and unlock, which are chosen by name: if there is nothing to unlock, shows the reason. */
  const ifLockable = (act: () => void): void => {
    if (source.off !== null) announce(NOT_WRITTEN)
    else if (enforcement.needsUnlock) act()
    else announce('Writing on this cluster needs no unlock')
  }
  useCommands({
    ...go,
    'frame.palette': open.palette,
    'frame.go-to': open.goTo,
    'frame.help': open.help,
    'frame.dry-run': () => dryRun(),
    'frame.propose': () => propose(),
    'frame.incident': () => note.open('new'),
    'frame.note': () => note.open('note'),
    'frame.export': exportBundle,
    'frame.stop-all': () => (source.off === null ? enforcement.openStop() : announce(NOT_WRITTEN)),
    'frame.unlock': () => ifLockable(() => void enforcement.openUnlock()),
    'frame.lock': () => ifLockable(() => void enforcement.lock()),
    'frame.clear': () => {
      if (selection.jobId === null && !selection.inspectorOpen) compare.clear()
      selection.clear()
    },
    'time.pause': () => void time.toggle(),
    'time.live': () => void time.live(),
    'time.back': () => void time.step(-1),
    'time.on': () => void time.step(1),
    'time.back-10': () => void time.step(-10),
    'time.on-10': () => void time.step(10),
    'time.back-minute': () => void time.stepMinutes(-1),
    'time.on-minute': () => void time.stepMinutes(1),
    'time.event-before': () => void time.event('previous'),
    'time.event-next': () => void time.event('next'),
    'time.pin-a': () => void compare.pin(),
    'time.unpin-a': () => void compare.clear(),
    'time.zoom-out': () => {
      if (time.crumbs.length === 0 || selection.inspectorOpen) return false
      time.stepOut()
      return undefined
    },
  })
}
