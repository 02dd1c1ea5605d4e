/**
 * Differences of happy-dom from browsers that stop CodeMirror: a shadow root fails to name its focused element while another
 * one has the focus, and selections that a script sets are announced during the call instead of later.
 */
const { prototype } = ShadowRoot
const own = Object.getOwnPropertyDescriptor(prototype, 'activeElement')
Object.defineProperty(prototype, 'activeElement', {
  configurable: true,
  get(this: ShadowRoot): Element | null {
    try {
      return (own?.get?.call(this) as Element | null | undefined) ?? null
    } catch {
      return null
    }
  },
})
document.addEventListener('selectionchange', (event) => event.stopImmediatePropagation())
