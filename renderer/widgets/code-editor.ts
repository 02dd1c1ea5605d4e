/**
 * Text editor of CodeField: CodeMirror in a shadow root, where its styles are adopted style sheets; in the page they would
 * be style elements, which the content security policy of the window refuses. Colors are tokens of the theme.
 */
import { autocompletion, type CompletionSource } from '@codemirror/autocomplete'
import { history, historyKeymap, standardKeymap } from '@codemirror/commands'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, StateEffect, StateField, Transaction, type Extension } from '@codemirror/state'
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  WidgetType,
  type DecorationSet,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { maskedText } from '../format/plain-text.ts'

/** Fault of a piece of the text; without length, of the place. */
export interface CodeFault {
  readonly from: number
  readonly length: number
  readonly severity: 'error' | 'warning'
  readonly message: string
}
export interface CodeOption {
  readonly label: string
  readonly detail?: string | undefined
  /** Inserted text, if it differs from the label. */
  readonly apply?: string | undefined
}
/** Options that replace the text from an offset to the caret. */
export interface CodeCompletions {
  readonly from: number
  readonly options: readonly CodeOption[]
}
/** Completes at an offset; `isExplicit` if asked for by key. Null if there are none. */
export type Complete = (
  text: string,
  offset: number,
  isExplicit: boolean,
) => CodeCompletions | null | Promise<CodeCompletions | null>

export interface CodeEditorOptions {
  readonly root: ShadowRoot
  readonly text: string
  readonly label: string
  readonly testid: string | undefined
  /** One line: line breaks become spaces, Enter does nothing, long text wraps. */
  readonly isSingleLine: boolean
  /** A caret under the first character of each fault, and messages behind the lines of a text of several lines. */
  readonly hasCarets: boolean
  readonly maxLength: number
  readonly language: Extension
  readonly complete: Complete
  readonly onEdit: (text: string, isPasted: boolean) => void
  readonly onLeave: () => void
}
/** Methods of a mounted CodeField. */
export interface CodeFieldMethods {
  focus(): void
  /** Focuses the field, selects a range and scrolls it into view. */
  select(from: number, to: number): void
}
export interface CodeEditor extends CodeFieldMethods {
  /** Changes the text where it differs, so that the caret keeps its place. */
  setText(text: string): void
  /** Opens another document with its own edit history. */
  replace(text: string): void
  setLanguage(language: Extension): void
  mark(faults: readonly CodeFault[]): void
  destroy(): void
}

const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--note)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--text-3)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--text-2)' },
  { tag: [tags.labelName, tags.typeName, tags.meta, tags.keyword], color: 'var(--watch)' },
  { tag: tags.invalid, color: 'var(--bad)' },
])
const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--text-1)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.5', fontVariantLigatures: 'none' },
  // Characters stay in the order in which they are stored, whatever their direction.
  '.cm-content': { caretColor: 'var(--accent)', padding: '6px 0', direction: 'ltr', unicodeBidi: 'bidi-override' },
  '.cm-gutters': {
    backgroundColor: 'var(--bg-sunken)',
    color: 'var(--text-3)',
    border: 'none',
    borderRight: '1px solid var(--line-1)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--bg-hover) 60%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--bg-hover)', color: 'var(--text-1)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--bg-select)',
  },
  '.cm-selectionMatch, .cm-searchMatch': { backgroundColor: 'var(--watch-bg)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-bg)', outline: '1px solid var(--accent-line)' },
  '.cm-specialChar': { color: 'inherit' },
  '.cm-tooltip': {
    backgroundColor: 'var(--bg-raised)',
    color: 'var(--text-1)',
    border: '1px solid var(--line-2)',
    borderRadius: 'var(--r-2)',
    boxShadow: 'var(--shadow-2)',
    fontFamily: 'var(--font-ui)',
    maxWidth: '420px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--font-mono)',
    fontSize: 'var(--fs-11)',
    maxHeight: '220px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--bg-select)', color: 'var(--text-1)' },
  '.cm-completionDetail': { color: 'var(--text-3)', fontStyle: 'normal', marginLeft: '10px' },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent)' },
  '.cm-diagnostic': { borderLeft: '3px solid var(--bad)', padding: '4px 8px', fontSize: 'var(--fs-11)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--watch)' },
  '.cm-lintRange-error, .cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad) 1px',
    textUnderlineOffset: '2px',
  },
  '.cm-lintRange-warning': { textDecorationColor: 'var(--watch)' },
  '.cm-lintPoint:after': { display: 'none' },
  '.cm-lint-marker': { width: '9px', height: '9px', marginTop: '5px' },
  '.cm-lint-marker-error, .cm-lint-marker-warning': { content: '""', borderRadius: '1px' },
  '.cm-lint-marker-error': { backgroundColor: 'var(--bad)' },
  '.cm-lint-marker-warning': { backgroundColor: 'var(--watch)' },
  '.cm-panels': { backgroundColor: 'var(--bg-raised)', color: 'var(--text-1)', fontFamily: 'var(--font-ui)' },
  '.cm-textfield': { backgroundColor: 'var(--bg-sunken)', border: '1px solid var(--line-2)', color: 'var(--text-1)' },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--bg-surface)',
    border: '1px solid var(--line-2)',
    color: 'var(--text-1)',
  },
})
/** Lines with space for a caret below the text: all have it, so that the text does not jump as faults appear and clear. */
const caretTheme = EditorView.theme({
  '.cm-scroller': { lineHeight: '23px' },
  '.cm-line': { position: 'relative', overflowX: 'clip' },
  '.cm-lint-marker': { marginTop: '7px' },
  '.cm-fault': { position: 'relative', color: 'var(--bad)' },
  '.cm-fault > span': {
    position: 'absolute',
    left: '0',
    top: '16px',
    fontSize: 'var(--fs-13)',
    lineHeight: '12px',
    fontWeight: 'var(--fw-semi)',
    pointerEvents: 'none',
  },
  // Out of the flow, so that a long message does not make the line scroll.
  '.cm-fault-words': {
    position: 'absolute',
    paddingLeft: '3ch',
    whiteSpace: 'nowrap',
    color: 'var(--bad)',
    pointerEvents: 'none',
  },
  '.cm-fault.warning, .cm-fault-words.warning': { color: 'var(--watch)' },
})
const setFaults = StateEffect.define<readonly CodeFault[]>()
/** Faults at their places in the current text. */
const faultField = StateField.define<readonly CodeFault[]>({
  create: () => [],
  update(faults, tr) {
    for (const effect of tr.effects) if (effect.is(setFaults)) return effect.value
    return tr.docChanged && faults.length > 0
      ? faults.map((fault) => ({ ...fault, from: tr.changes.mapPos(fault.from, 1) }))
      : faults
  },
})

/** Element that shows a fault: its caret, or the messages of a line. */
class FaultMark extends WidgetType {
  readonly text: string
  readonly className: string
  constructor(className: string, text: string) {
    super()
    this.className = className
    this.text = text
  }
  override eq(other: FaultMark): boolean {
    return other.text === this.text && other.className === this.className
  }
  override toDOM(): HTMLElement {
    const mark = document.createElement('span')
    mark.className = this.className
    mark.setAttribute('aria-hidden', 'true')
    const words = document.createElement('span')
    words.textContent = this.text
    mark.append(words)
    return mark
  }
  override ignoreEvent(): boolean {
    return true
  }
}

function faultMarks(state: EditorState, isSingleLine: boolean): DecorationSet {
  const marks = []
  const lines = new Map<number, CodeFault[]>()
  for (const fault of state.field(faultField)) {
    const at = Math.min(fault.from, state.doc.length)
    marks.push(Decoration.widget({ widget: new FaultMark(`cm-fault ${fault.severity}`, '^'), side: -1 }).range(at))
    const end = state.doc.lineAt(at).to
    lines.set(end, [...(lines.get(end) ?? []), fault])
  }
  if (!isSingleLine) {
    for (const [end, faults] of lines) {
      const severity = faults.some((fault) => fault.severity === 'error') ? 'error' : 'warning'
      const words = faults.map(({ message }) => maskedText(message)).join('; ')
      marks.push(Decoration.widget({ widget: new FaultMark(`cm-fault-words ${severity}`, words), side: 1 }).range(end))
    }
  }
  return Decoration.set(marks, true)
}

const carets = (isSingleLine: boolean): Extension =>
  EditorView.decorations.compute(['doc', faultField], (state) => faultMarks(state, isSingleLine))

/** Characters that are not visible or reorder others, beyond those that CodeMirror knows. */
const UNSEEN = /[\u180E\u200C\u200D\u202A-\u202C\u2060-\u2065\u2068\u206A-\u206F\uFFF9-\uFFFB]/g
function unseen(_code: number, description: string | null): HTMLElement {
  const mark = document.createElement('span')
  mark.className = 'cm-specialChar'
  mark.textContent = '\uFFFD'
  if (description !== null) mark.title = description
  return mark
}

/** Joins the lines of a text that must have one, however they got into it. */
const oneLine = EditorState.transactionFilter.of((tr) => {
  if (!tr.docChanged || tr.newDoc.lines === 1) return tr
  const breaks = tr.newDoc.toString().matchAll(/\s*\n\s*/g)
  const changes = [...breaks].map(({ index, 0: { length } }) => ({ from: index, to: index + length, insert: ' ' }))
  return [tr, { changes, sequential: true }]
})
const singleLine: Extension[] = [
  EditorView.theme({
    // Space for a caret below the last line.
    '.cm-content': { padding: '0 0 5px' },
    '.cm-line': { padding: '0', overflowWrap: 'anywhere' },
  }),
  EditorView.lineWrapping,
  oneLine,
  keymap.of([{ key: 'Enter', run: () => true }]),
]
const severalLines: Extension[] = [
  lineNumbers(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  lintGutter(),
  search({ top: true }),
  highlightSelectionMatches(),
  keymap.of([...lintKeymap, ...searchKeymap]),
]
/** Refuses input beyond a length; a longer text may be set, and shortened. */
const limited = (most: number): Extension =>
  EditorState.transactionFilter.of((tr) =>
    tr.isUserEvent('input') && tr.newDoc.length > Math.max(most, tr.startState.doc.length) ? [] : tr,
  )

export function codeEditor(options: CodeEditorOptions): CodeEditor {
  const { root, isSingleLine, hasCarets, maxLength } = options
  /** Faults as text, for screen readers: ids outside of the shadow root are not found from inside. */
  const description = Object.assign(document.createElement('div'), { id: 'faults', hidden: true })
  root.append(description)

  const source: CompletionSource = async (context) => {
    const found = await options.complete(context.state.doc.toString(), context.pos, context.explicit)
    if (found === null || found.options.length === 0 || context.aborted) return null
    return {
      from: Math.max(0, Math.min(context.pos, found.from)),
      options: found.options.map(({ label, detail, apply }) => ({
        label,
        ...(detail === undefined ? {} : { detail }),
        ...(apply === undefined ? {} : { apply }),
      })),
      validFor: /^[\w.-]*$/,
    }
  }
  const language = new Compartment()
  /** True while the text is set from outside. */
  let isOutside = false
  const extensions = (of: Extension): Extension[] => [
    language.of(of),
    history(),
    drawSelection(),
    highlightSpecialChars({ addSpecialChars: UNSEEN, render: unseen }),
    syntaxHighlighting(highlight),
    faultField,
    ...(isSingleLine ? singleLine : severalLines),
    // Of two themes the first one takes precedence.
    ...(hasCarets ? [caretTheme, carets(isSingleLine)] : []),
    theme,
    autocompletion({ override: [source], icons: false }),
    // Commands of the window keep Ctrl+Enter and Escape: only the standard keys of a text field.
    keymap.of([...historyKeymap, ...standardKeymap]),
    limited(maxLength),
    EditorView.contentAttributes.of((view) => {
      const isFaulty = view.state.field(faultField).length > 0
      return {
        'aria-label': options.label,
        'aria-invalid': String(isFaulty),
        ...(isFaulty ? { 'aria-describedby': description.id } : {}),
        ...(isSingleLine ? { 'aria-multiline': 'false' } : {}),
        ...(options.testid === undefined ? {} : { 'data-testid': options.testid }),
        spellcheck: 'false',
        // Scrollable content must be reachable by Tab; contenteditable is not enough in every browser.
        tabindex: '0',
      }
    }),
    EditorView.domEventHandlers({ blur: () => void options.onLeave() }),
    EditorView.updateListener.of((update) => {
      if (!update.docChanged || isOutside) return
      const isPasted = update.transactions.some((tr) => tr.isUserEvent('input.paste') || tr.isUserEvent('input.drop'))
      options.onEdit(update.state.doc.toString(), isPasted)
    }),
  ]
  const view = new EditorView({
    state: EditorState.create({ doc: options.text, extensions: extensions(options.language) }),
    parent: root,
    root,
  })
  function fromOutside(act: () => void): void {
    isOutside = true
    try {
      act()
    } finally {
      isOutside = false
    }
  }
  return {
    setText: (text) => {
      const before = view.state.doc.toString()
      if (text === before) return
      const most = Math.min(before.length, text.length)
      let start = 0
      while (start < most && before[start] === text[start]) start++
      let end = 0
      while (end < most - start && before.at(-1 - end) === text.at(-1 - end)) end++
      const changes = { from: start, to: before.length - end, insert: text.slice(start, text.length - end) }
      fromOutside(() => view.dispatch({ changes, annotations: Transaction.addToHistory.of(false) }))
    },
    replace: (text) => {
      const current = language.get(view.state) ?? options.language
      fromOutside(() => view.setState(EditorState.create({ doc: text, extensions: extensions(current) })))
    },
    setLanguage: (next) => view.dispatch({ effects: language.reconfigure(next) }),
    mark: (faults) => {
      const { length } = view.state.doc
      const placed = faults.map((fault) => ({ ...fault, from: Math.min(length, Math.max(0, fault.from)) }))
      const diagnostics = placed
        .map(({ from, length: n, severity, message }) => ({
          from,
          to: Math.min(length, from + n),
          severity,
          message: maskedText(message),
        }))
        .sort((a, b) => a.from - b.from)
      description.textContent = diagnostics
        .map(({ from, message }) => {
          const line = view.state.doc.lineAt(from)
          return `${isSingleLine ? '' : `line ${line.number}, `}column ${from - line.from + 1}: ${message}`
        })
        .join('. ')
      view.dispatch({ effects: setFaults.of(placed) }, setDiagnostics(view.state, diagnostics))
    },
    focus: () => view.focus(),
    select: (from, to) => {
      const { length } = view.state.doc
      const anchor = Math.min(length, from)
      view.dispatch({
        selection: { anchor, head: Math.min(length, to) },
        effects: EditorView.scrollIntoView(anchor, { y: 'nearest', yMargin: 40 }),
      })
      view.focus()
    },
    destroy: () => view.destroy(),
  }
}
