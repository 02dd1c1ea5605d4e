/** Initial focus of dialogs and popovers: the element marked `data-focus-first`; else the default of the library. */
export function focusFirst(event: Event): void {
  const content = event.target instanceof Element ? event.target : null
  const first = content?.querySelector<HTMLElement>('[data-focus-first]:not(:disabled)')
  if (!first) return
  event.preventDefault()
  first.focus()
  // Behind the text, so that typing does not replace it.
  if (first instanceof HTMLInputElement && first.type === 'text') {
    first.setSelectionRange(first.value.length, first.value.length)
  }
}
