/**
 * Currently explained number. Every explained number carries `data-explain` with its id, and one layer listens for all
 * of them: hover, Tab, touch, or F1, which steps through them. Focus does not move.
 */
import { useEventListener } from '@vueuse/core'
import { computed, shallowRef } from 'vue'
import { useCommands } from '../composables/use-commands.ts'
import { meaningOf } from './meanings.ts'

/** Hover delays, ms: until the explanation opens, and until it closes. */
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

/** Explained numbers on screen in page order, each id once. */
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

/** Position beside the number, never over it. */
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
    // Between two numbers the explanation switches quickly; leaving them all, it stays briefly.
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
  // On scroll the explanation would no longer be beside its number.
  useEventListener(document, 'scroll', hide, { capture: true, passive: true })
  useEventListener(window, ['resize', 'hashchange'], hide)
  useEventListener(
    window,
    'keydown',
    (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || shown.value === null) return
      // After F1, Esc closes only the explanation; after hover, it also has its usual effect.
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
    // Starts at the focused number, then continues from there.
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : shown.value ? (at + by + all.length) % all.length : at
    set(all[next] ?? null, 'walk')
  }
  useCommands({ 'frame.explain': () => walk(1), 'frame.explain-back': () => walk(-1) })

  const entry = computed(() => (shown.value ? meaningOf(shown.value.id) : undefined))
  const more = computed(() => shown.value?.el.dataset['explainMore'] ?? '')
  const place = computed(() => (shown.value ? placeOf(shown.value.el) : {}))
  return { shown, entry, more, place }
}
