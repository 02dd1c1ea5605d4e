/**
 * Scenario editor: CodeMirror in a shadow root, where its styles are adopted style sheets; in the page they would be style
 * elements, which the content security policy of the window refuses. Colours are tokens of the theme.
 */
import {
  autocompletion,
  closeBrackets,
  completionKeymap,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState, type Text } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { ScenarioCheck } from '#core/api/sandbox.ts'

type Fault = ScenarioCheck['faults'][number]
export interface Completions {
  readonly fromColumn: number
  readonly options: readonly { readonly label: string; readonly detail: string; readonly apply: string }[]
}
export interface EditorParts {
  readonly root: ShadowRoot
  readonly text: string
  readonly onEdit: (text: string) => void
  readonly onRun: () => void
  /** Completes at a line and column, both from 1; null if there are none. */
  readonly complete: (text: string, line: number, column: number) => Promise<Completions | null>
}
export interface YamlEditor {
  /** Opens another document with its own edit history. */
  replace(text: string): void
  mark(faults: readonly Fault[]): void
  goTo(line: number, column: number): void
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
  '&': { height: '100%', color: 'var(--text-1)', backgroundColor: 'var(--bg-sunken)', fontSize: 'var(--fs-12)' },
  '&.cm-focused': { outline: 'none', boxShadow: 'inset 0 0 0 2px var(--accent)' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.5', fontVariantLigatures: 'none' },
  '.cm-content': { caretColor: 'var(--accent)', padding: '6px 0' },
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
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '3px',
  },
  '.cm-lint-marker': { width: '9px', height: '9px', marginTop: '5px' },
  '.cm-lint-marker-error': { content: '""', backgroundColor: 'var(--bad)', borderRadius: '1px' },
  '.cm-panels': { backgroundColor: 'var(--bg-raised)', color: 'var(--text-1)', fontFamily: 'var(--font-ui)' },
  '.cm-textfield': { backgroundColor: 'var(--bg-sunken)', border: '1px solid var(--line-2)', color: 'var(--text-1)' },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--bg-surface)',
    border: '1px solid var(--line-2)',
    color: 'var(--text-1)',
  },
})

/** Offset of a fault, limited to the end of its line. */
function offsetOf(doc: Text, line: number, column: number): number {
  const at = doc.line(Math.max(1, Math.min(doc.lines, line)))
  return Math.min(at.to, at.from + Math.max(0, column - 1))
}
/** Underlines the word at the fault, or the rest of its line; an empty line is marked only in the gutter. */
function diagnosticOf(doc: Text, { line, column, code, message }: Fault): Diagnostic {
  const from = offsetOf(doc, line, column)
  const rest = doc.sliceString(from, doc.lineAt(from).to)
  const word = /^[^\s:,[\]{}]+/.exec(rest)?.[0].length ?? rest.trimEnd().length
  return { from, to: from + word, severity: 'error', message, source: code }
}

function source(parts: EditorParts) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const line = context.state.doc.lineAt(context.pos)
    const before = line.text.slice(0, context.pos - line.from)
    if (!context.explicit && !/[\w:-]\s?$/.test(before)) return null
    const found = await parts.complete(context.state.doc.toString(), line.number, before.length + 1)
    if (found === null || found.options.length === 0 || context.aborted) return null
    return {
      from: Math.min(context.pos, line.from + Math.max(0, found.fromColumn - 1)),
      options: found.options.map(({ label, detail, apply }) => ({ label, detail, apply })),
      validFor: /^[\w.-]*$/,
    }
  }
}

export function yamlEditor(parts: EditorParts): YamlEditor {
  const extensions = [
    lineNumbers(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    drawSelection(),
    history(),
    lintGutter(),
    bracketMatching(),
    closeBrackets(),
    indentOnInput(),
    indentUnit.of('  '),
    search({ top: true }),
    highlightSelectionMatches(),
    yaml(),
    syntaxHighlighting(highlight),
    theme,
    EditorState.tabSize.of(2),
    autocompletion({ override: [source(parts)] }),
    EditorView.contentAttributes.of({
      'aria-label': 'Scenario in YAML. Escape, then Tab, leaves the editor.',
      spellcheck: 'false',
      // Scrollable content must be reachable by Tab; contenteditable is not enough in every browser.
      tabindex: '0',
    }),
    keymap.of([
      { key: 'Mod-Enter', run: () => (parts.onRun(), true) },
      ...completionKeymap,
      ...lintKeymap,
      ...searchKeymap,
      ...historyKeymap,
      indentWithTab,
      ...defaultKeymap,
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) parts.onEdit(update.state.doc.toString())
    }),
  ]
  const view = new EditorView({
    state: EditorState.create({ doc: parts.text, extensions }),
    parent: parts.root,
    root: parts.root,
  })
  return {
    replace: (text) => view.setState(EditorState.create({ doc: text, extensions })),
    mark: (faults) => {
      const { doc } = view.state
      view.dispatch(
        setDiagnostics(
          view.state,
          faults
            .slice(0, 200)
            .map((fault) => diagnosticOf(doc, fault))
            .sort((a, b) => a.from - b.from),
        ),
      )
    },
    goTo: (line, column) => {
      const at = offsetOf(view.state.doc, line, column)
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) })
      view.focus()
    },
    destroy: () => view.destroy(),
  }
}
