/** Code field of a mounted page, by its test id: its text, faults and selection, and typing in it. */
import { EditorView } from '@codemirror/view'

export function codeField(testid: string) {
  function view(): EditorView {
    for (const host of document.querySelectorAll('.code-field')) {
      const content = host.shadowRoot?.querySelector<HTMLElement>(`[data-testid=${testid}]`)
      const found = content ? EditorView.findFromDOM(content) : null
      if (found) return found
    }
    throw new Error(`no code field ${testid}`)
  }
  /** Replaces the whole text, as a user does it. */
  function input(text: string, userEvent: string): void {
    const { state } = view()
    view().dispatch({ changes: { from: 0, to: state.doc.length, insert: text }, userEvent })
  }
  return {
    get view(): EditorView {
      return view()
    },
    get content(): HTMLElement {
      return view().contentDOM
    },
    get text(): string {
      return view().state.doc.toString()
    },
    get selected(): string {
      const { from, to } = view().state.selection.main
      return view().state.sliceDoc(from, to)
    },
    /** Text before each caret that marks a fault, in its line. */
    get carets(): string[] {
      return [...view().contentDOM.querySelectorAll('.cm-fault')].map((mark) => {
        const line = mark.closest('.cm-line')
        if (!line) throw new Error('a caret outside of a line')
        const range = document.createRange()
        range.setStart(line, 0)
        range.setEndBefore(mark)
        const before = range.cloneContents()
        for (const other of before.querySelectorAll('.cm-fault')) other.remove()
        return before.textContent
      })
    },
    /** Faults as screen readers get them. */
    get description(): string {
      const id = view().contentDOM.getAttribute('aria-describedby') ?? ''
      return (view().root as ShadowRoot).getElementById(id)?.textContent ?? ''
    },
    get isFocused(): boolean {
      return view().hasFocus
    },
    focus: () => view().focus(),
    type: (text: string) => input(text, 'input.type'),
    paste: (text: string) => input(text, 'input.paste'),
  }
}
