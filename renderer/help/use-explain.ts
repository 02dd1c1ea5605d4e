/**
 * Which number is explained now. Every number that has a meaning carries `data-explain` with its id, and one layer listens for all of
 * them: the pointer rests on it, it is reached by Tab, it is touched, or F1 goes from one to the next. Nothing takes the focus.
 */
import { useEventListener } from '@vueuse/core'
import { computed, shallowRef } from 'vue'
import { useCommands } from '../composables/use-commands.ts'
import { meaningOf } from './meanings.ts'

/** The pointer rests that long before words come, and may be away that long before they go. */
const REST_MS = 450
const AWAY_MS = 120
const WIDTH_PX = 320

type How = 'pointer' | 'focus' | 'walk'
export interface Explained {
  readonly el: HTMLElement
  readonly id: string
  readonly how: How
}

const marked = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('[data-explain]') : null

/** Numbers on screen in the order of the page, each meaning once; those under a dialog are not asked for. */
function onScreen(): HTMLElement[] {
  const seen = new Set<string>()
  return [...document.querySelectorAll<HTMLElement>('[data-explain]')].filter((el) => {
    const id = el.dataset['explain'] ?? ''
    const { top, left, width, height } = el.getBoundingClientRect()
    const isIn = width > 0 && height > 0 && top >= 0 && left >= 0 && top < innerHeight && left < innerWidth
    if (!isIn || seen.has(id) || !meaningOf(id)) return false
    seen.add(id)
    return true
  })
}

/** Beside the number, never over it. */
export function placeOf(el: HTMLElement): Readonly<Record<string, string>> {
  const box = el.getBoundingClientRect()
  const left = `${Math.max(8, Math.min(innerWidth - WIDTH_PX - 28, box.left - 8))}px`
  return box.top > innerHeight / 2
    ? { left, bottom: `${innerHeight - box.top + 6}px` }
    : { left, top: `${box.bottom + 6}px` }
}

export function useExplain() {
  const shown = shallowRef<Explained | null>(null)
  let timer: ReturnType<typeof setTimeout> | undefined

  function set(el: HTMLElement | null, how: How): void {
    clearTimeout(timer)
    shown.value?.el.removeAttribute('data-explained')
    const id = el?.dataset['explain'] ?? ''
    shown.value = el && meaningOf(id) ? { el, id, how } : null
    if (how === 'walk') shown.value?.el.setAttribute('data-explained', '')
  }
  const hide = (): void => set(null, 'pointer')
  function soon(el: HTMLElement | null, how: How): void {
    clearTimeout(timer)
    // From one number to the next the words follow at once; out of all of them they stay for a blink.
    const isNext = shown.value !== null
    timer = setTimeout(() => set(el, how), el === null ? AWAY_MS : isNext ? AWAY_MS : REST_MS)
  }
  const isWalk = (): boolean => shown.value?.how === 'walk'

  useEventListener(document, 'pointerover', (event: PointerEvent) => {
    if (event.pointerType === 'touch' || isWalk()) return
    const el = marked(event.target)
    if (el !== (shown.value?.el ?? null) || el === null) soon(el, 'pointer')
  })
  useEventListener(document, 'pointerup', (event: PointerEvent) => {
    if (event.pointerType === 'touch') set(marked(event.target), 'pointer')
  })
  useEventListener(document, 'pointerdown', (event: PointerEvent) => {
    if (event.pointerType !== 'touch') hide()
  })
  useEventListener(document, 'focusin', ({ target }: FocusEvent) => {
    if (isWalk()) return
    const el = target instanceof Element && target.matches(':focus-visible') ? marked(target) : null
    if (el) soon(el, 'focus')
    else if (shown.value?.how === 'focus') hide()
  })
  // Words that stand beside a number must not stay where it was.
  useEventListener(document, 'scroll', hide, { capture: true, passive: true })
  useEventListener(window, ['resize', 'hashchange'], hide)
  useEventListener(
    window,
    'keydown',
    (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || shown.value === null) return
      // A walk is put away by itself; words under the pointer go with whatever else Esc ends.
      if (isWalk()) event.stopImmediatePropagation()
      hide()
    },
    { capture: true },
  )

  function walk(by: 1 | -1): void {
    const all = onScreen()
    if (all.length === 0) return
    const from = shown.value?.id ?? marked(document.activeElement)?.dataset['explain']
    const at = all.findIndex((el) => el.dataset['explain'] === from)
    // What has the focus is explained first; then it goes on from there.
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : shown.value ? (at + by + all.length) % all.length : at
    set(all[next] ?? null, 'walk')
  }
  useCommands({ 'frame.explain': () => walk(1), 'frame.explain-back': () => walk(-1) })

  const entry = computed(() => (shown.value ? meaningOf(shown.value.id) : undefined))
  const more = computed(() => shown.value?.el.dataset['explainMore'] ?? '')
  const place = computed(() => (shown.value ? placeOf(shown.value.el) : {}))
  return { shown, entry, more, place }
}
