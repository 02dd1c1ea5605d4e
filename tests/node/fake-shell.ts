/** Desktop shell driven by a test: records requests of the host, and sends events. */
import { ok, type Result } from '#core/base/result.ts'
import type { MenuModel } from '#core/api/shell.ts'
import type { KeychainState, Shell, ShellMessage } from '#electron/host/shell/shell.ts'

export function fakeShell() {
  const listeners = new Set<(message: ShellMessage) => void>()
  const seen = {
    names: [] as string[],
    notices: [] as { id: string; title: string; body: string }[],
    links: [] as string[],
    menus: [] as MenuModel[],
  }
  /** Choices of the user, and the presence of a real keychain. */
  const world = {
    save: null as string | null,
    keychain: { can: true, why: '' } as KeychainState,
  }
  const shell: Shell = {
    promptSave: (name): Promise<Result<string | null>> => {
      seen.names.push(name)
      return Promise.resolve(ok(world.save))
    },
    notify: (notice) => void seen.notices.push(notice),
    openLink: (url) => {
      seen.links.push(url)
      return Promise.resolve(ok(undefined))
    },
    setMenu: (menu) => void seen.menus.push(menu),
    keychain: {
      state: () => Promise.resolve(world.keychain),
      seal: (text) => Promise.resolve(ok(Buffer.from(text).toString('hex').split('').toReversed().join(''))),
      open: (sealed) => Promise.resolve(ok(Buffer.from(sealed.split('').toReversed().join(''), 'hex').toString())),
    },
    onMessage: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const notify = (message: ShellMessage): void => {
    for (const l of [...listeners]) l(message)
  }
  return { shell, seen, world, tell: notify }
}
