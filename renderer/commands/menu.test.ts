import { describe, expect, it } from 'vitest'
import { menuModel } from '#core/api/shell.ts'
import { catalogue } from './catalogue.ts'
import { formatKeys } from './keys.ts'
import { acceleratorOf, menuOf } from './menu.ts'

const defaults = new Map<string, readonly string[]>(catalogue.map((c) => [c.id, c.keys]))
const menu = (scope: string, title: string, keys = defaults) =>
  menuOf({ catalogue, keysOf: (id) => keys.get(id) ?? [], view: { scope, title }, text: (k) => formatKeys(k, 'other') })

describe('the native menu', () => {
  it('has every command of every view, and those of the view on screen last', () => {
    for (const [scope, title] of [
      ['jobs', 'Jobs'],
      ['rules', 'Rules'],
      ['overview', 'Overview'],
    ] as const) {
      const { menus } = menu(scope, title)
      const ids = menus.flatMap((m) => m.entries.map((e) => e.id))
      const expected = catalogue.filter((c) => !('isLocal' in c) && (c.scope === 'everywhere' || c.scope === scope))
      expect(ids.toSorted()).toEqual(expected.map((c) => c.id).toSorted())
      const own = expected.some((c) => c.scope === scope)
      expect(menus.at(-1)?.title === title).toBe(own)
    }
  })

  it('is what the host takes, in every view', () => {
    for (const scope of new Set(catalogue.map((c) => c.scope))) {
      const built = menu(scope, 'The view')
      expect(menuModel.parse(built)).toEqual(built)
    }
  })

  it('shows the current keys, not those of the catalogue', () => {
    const changed = new Map([...defaults, ['frame.palette', ['mod+Shift+p']], ['frame.settings', ['g s']]])
    const entries = menu('overview', 'Overview', changed).menus.flatMap((m) => m.entries)
    expect(entries.find((e) => e.id === 'frame.palette')).toMatchObject({
      title: 'Command palette',
      accelerator: 'CmdOrCtrl+Shift+P',
    })
    // A menu cannot have a sequence as accelerator: it is shown in the title.
    expect(entries.find((e) => e.id === 'frame.settings')).toMatchObject({ title: 'Settings (G S)', accelerator: null })
  })

  it('takes no key from a text field', () => {
    const keys = ['k', 'Shift+n', 'Space', '?', 'Escape', 'ArrowLeft', 'Alt+ArrowLeft', 's r', 'mod+k mod+s', 'Enter']
    expect(keys.map(acceleratorOf)).toEqual(keys.map(() => null))
    expect(
      ['mod+k', 'mod+Alt+ArrowUp', 'mod++', 'F5', 'Shift+F10', 'mod+,', 'mod+Shift+Enter'].map(acceleratorOf),
    ).toEqual([
      'CmdOrCtrl+K',
      'CmdOrCtrl+Alt+Up',
      'CmdOrCtrl+Plus',
      'F5',
      'Shift+F10',
      'CmdOrCtrl+,',
      'CmdOrCtrl+Shift+Enter',
    ])
  })
})
