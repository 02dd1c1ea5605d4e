/** Keys of the frame; views add their own, and have those first that they share. Listed for the operator in help.ts. */
import { useRoute, useRouter } from 'vue-router'
import { useDryRun } from '../composables/use-dry-run.ts'
import { useExportBundle } from '../composables/use-export-bundle.ts'
import { useKeys, type Bindings } from '../composables/use-keys.ts'
import { useCompareStore } from '../stores/compare.ts'
import { useNoteStore } from '../stores/note.ts'
import { useSelectionStore } from '../stores/selection.ts'
import { useTimeStore } from '../stores/time.ts'
import { views } from './views.ts'

/** Views in which a letter means something else unless Shift is held. */
const takenN: ReadonlySet<unknown> = new Set(['rules', 'connections', 'sandbox'])
const takenC: ReadonlySet<unknown> = new Set(['connections', 'history'])
const takenD: ReadonlySet<unknown> = new Set(['locks', 'history'])

export function useAppKeys(open: { palette: () => void; help: () => void }): void {
  const [router, route, time, selection] = [useRouter(), useRoute(), useTimeStore(), useSelectionStore()]
  const [compare, note] = [useCompareStore(), useNoteStore()]
  const [dryRun, exportBundle] = [useDryRun(), useExportBundle()]
  const go = views
    .filter((v) => v.isHere && v.key !== '')
    .map((v) => [v.key, () => void router.push({ name: v.id })] as const)
  const bindings: Bindings = {
    ...Object.fromEntries(go),
    Space: time.toggle,
    l: time.live,
    ArrowLeft: () => time.step(-1),
    ArrowRight: () => time.step(1),
    'Shift+ArrowLeft': () => time.step(-10),
    'Shift+ArrowRight': () => time.step(10),
    'Alt+ArrowLeft': () => time.stepMinutes(-1),
    'Alt+ArrowRight': () => time.stepMinutes(1),
    '[': () => void time.event('previous'),
    ']': () => void time.event('next'),
    c: ({ shiftKey }) => {
      if (shiftKey) compare.clear()
      else if (takenC.has(route.name)) return false
      else compare.pin()
      return undefined
    },
    d: ({ shiftKey }) => {
      if (!shiftKey && takenD.has(route.name)) return false
      dryRun()
      return undefined
    },
    n: ({ shiftKey }) => {
      if (!shiftKey && takenN.has(route.name)) return false
      note.open(shiftKey ? 'note' : 'new')
      return undefined
    },
    Backspace: () => {
      if (time.crumbs.length === 0 || selection.inspectorOpen) return false
      time.stepOut()
      return undefined
    },
    Escape: () => {
      if (selection.jobId === null && !selection.inspectorOpen) compare.clear()
      selection.clear()
    },
    'mod+k': open.palette,
    'mod+e': exportBundle,
    '?': open.help,
  }
  useKeys(bindings)
}
