/**
 * Interface of the program around the host. The desktop shell implements it (electron/main); behind a browser and in a
 * terminal there is none.
 */
import type { MenuModel, PowerEvent } from '#core/api/shell.ts'
import type { Result } from '#core/base/result.ts'
import type { RunForeign } from '../../foreign/processes.ts'

/** Events from the shell to the host. */
export type ShellMessage =
  | { readonly kind: 'command'; readonly id: string }
  | { readonly kind: 'power'; readonly what: PowerEvent }
  /** Notification clicked. */
  | { readonly kind: 'notification'; readonly id: string }
  /** Focus of the window changed. */
  | { readonly kind: 'focus'; readonly isFocused: boolean }

/** Encryption state of the system keychain, with the reason if unavailable. */
export interface KeychainState {
  readonly can: boolean
  readonly why: string
}

/** System keychain, which seals a text for this user on this machine. */
export interface Keychain {
  state(): Promise<KeychainState>
  /** @returns bytes that only `open` reads, as base64. Failure: KEYCHAIN. */
  seal(text: string): Promise<Result<string>>
  /** Failure: KEYCHAIN. */
  open(sealed: string): Promise<Result<string>>
}

export interface Shell {
  /** Asks the operator for the place of a file; null: canceled. Failure: SHELL. */
  promptSave(name: string): Promise<Result<string | null>>
  /** Plain text of bounded length. */
  notify(notification: { readonly id: string; readonly title: string; readonly body: string }): void
  /** Failures: LINK_REFUSED, SHELL. */
  openLink(url: string): Promise<Result<undefined>>
  setMenu(menu: MenuModel): void
  readonly keychain: Keychain
  /** Set if the host itself cannot start processes. */
  readonly runForeign?: RunForeign
  onMessage(listener: (message: ShellMessage) => void): () => void
}
