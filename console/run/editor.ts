/** A field for code in four languages. Tab indents; after Escape it leaves the field. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import {
  bracketMatching,
  indentOnInput,
  indentUnit,
  StreamLanguage,
  syntaxHighlighting,
} from '@codemirror/language'
import { javascript, typescript } from '@codemirror/legacy-modes/mode/javascript'
import { python } from '@codemirror/legacy-modes/mode/python'
import { shell } from '@codemirror/legacy-modes/mode/shell'
import { Compartment, Prec } from '@codemirror/state'
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { classHighlighter } from '@lezer/highlight'
import type { Language } from '../../src/core/request.ts'
import { element } from '../elements.ts'
import { allowStylesFromScripts } from '../style-sheets.ts'

/** Tokenizers are enough for colours; parsers would add 140 kB to the page. */
const grammars = { python, javascript, typescript, shell }

const attributes = {
  'aria-label': 'Code. Tab indents; press Escape first to leave the field with Tab.',
  tabindex: '0',
  spellcheck: 'false',
  autocapitalize: 'off',
}

/**
 * Text that is typed over a selection goes directly into the editor's state. Chromium would give it the colour of the
 * replaced text, in a `style` attribute that the page's policy refuses.
 */
const replaceByState = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data }, view) => {
    if (inputType !== 'insertText' || data === null) return false
    const { from, to } = selectionOf(view)
    if (from === to) return false
    const insert = view.state.toText(data)
    const selection = { anchor: from + insert.length }
    view.dispatch({ changes: { from, to, insert }, selection, userEvent: 'input.type', scrollIntoView: true })
    return true
  },
})

/** The page's selection, because the editor's state may not have the newest one yet. */
function selectionOf(view: EditorView): { readonly from: number; readonly to: number } {
  const { main } = view.state.selection
  const selection = document.getSelection()
  if (!main.empty || selection === null || selection.isCollapsed || selection.rangeCount === 0) return main
  const range = selection.getRangeAt(0)
  if (!view.contentDOM.contains(range.commonAncestorContainer)) return main
  return {
    from: view.posAtDOM(range.startContainer, range.startOffset),
    to: view.posAtDOM(range.endContainer, range.endOffset),
  }
}

export class Editor {
  readonly root = element('div', { class: 'editor' })
  readonly #grammar = new Compartment()
  readonly #view: EditorView

  constructor(run: () => void) {
    allowStylesFromScripts()
    const runs = {
      key: 'Mod-Enter',
      run: () => {
        run()
        return true
      },
    }
    this.#view = new EditorView({
      parent: this.root,
      extensions: [
        Prec.highest(keymap.of([runs])),
        lineNumbers(),
        history(),
        highlightActiveLine(),
        bracketMatching(),
        indentOnInput(),
        syntaxHighlighting(classHighlighter),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of(attributes),
        replaceByState,
        this.#grammar.of([]),
      ],
    })
  }

  get text(): string {
    return this.#view.state.doc.toString()
  }

  set text(text: string) {
    const { length } = this.#view.state.doc
    this.#view.dispatch({ changes: { from: 0, to: length, insert: text }, selection: { anchor: 0 } })
    this.#view.scrollDOM.scrollTop = 0
  }

  set language(language: Language) {
    const unit = indentUnit.of(language === 'python' ? '    ' : '  ')
    const grammar = [StreamLanguage.define(grammars[language]), unit]
    this.#view.dispatch({ effects: this.#grammar.reconfigure(grammar) })
  }

  /** Selects a line, counted from 1. */
  goTo(line: number): void {
    const { doc } = this.#view.state
    const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines))
    this.#view.focus()
    this.#view.dispatch({
      selection: { anchor: from, head: to },
      effects: EditorView.scrollIntoView(from, { y: 'center' }),
    })
  }
}
