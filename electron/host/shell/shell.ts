/** What the program around the host can do. The desktop shell is one (electron/main); behind a browser and in a terminal there is none. */
import type { MenuModel, PowerEvent } from '#core/api/shell.ts'
import type { Result } from '#core/base/result.ts'
import type { RunForeign } from '../../foreign/processes.ts'

/** What the program around tells the host. */
export type ShellTold =
  | { readonly kind: 'command'; readonly id: string }
  | { readonly kind: 'power'; readonly what: PowerEvent }
  /** A notification was chosen. */
  | { readonly kind: 'notification'; readonly id: string }
  /** Whether a person looks at the window. */
  | { readonly kind: 'focus'; readonly isFocused: boolean }

/** Whether the system's keychain encrypts, and why not. */
export interface KeychainState {
  readonly can: boolean
  readonly why: string
}

/** The system's keychain, which seals a text for this user on this machine. */
export interface Keychain {
  state(): Promise<KeychainState>
  /** @returns bytes that only `open` reads, as base64. Failure: KEYCHAIN. */
  seal(text: string): Promise<Result<string>>
  /** Failure: KEYCHAIN. */
  open(sealed: string): Promise<Result<string>>
}

export interface Shell {
  /** Asks a person where a file goes; null: nowhere. Failure: SHELL. */
  askSave(name: string): Promise<Result<string | null>>
  /** Plain words of bounded length. */
  notify(notification: { readonly id: string; readonly title: string; readonly body: string }): void
  /** Failures: LINK_REFUSED, SHELL. */
  openLink(url: string): Promise<Result<undefined>>
  setMenu(menu: MenuModel): void
  readonly keychain: Keychain
  /** Where the host itself cannot start processes. */
  readonly runForeign?: RunForeign
  onTold(listener: (told: ShellTold) => void): () => void
}
