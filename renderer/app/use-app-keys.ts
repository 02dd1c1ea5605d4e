/** Keys of the frame; views add their own. Listed for the operator in help.ts. */
import { useRouter } from 'vue-router'
import { useKeys, type Bindings } from '../composables/use-keys.ts'
import { useSelectionStore } from '../stores/selection.ts'
import { useTimeStore } from '../stores/time.ts'
import { views } from './views.ts'

export function useAppKeys(open: { palette: () => void; help: () => void }): void {
  const [router, time, selection] = [useRouter(), useTimeStore(), useSelectionStore()]
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
    Escape: selection.clear,
    'mod+k': open.palette,
    '?': open.help,
  }
  useKeys(bindings)
}
