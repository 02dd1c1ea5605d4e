/**
 * Access to the system's keychain. On a system without one, Electron would encrypt with a password that is in its source: this is
 * refused, and nothing is stored.
 */
import { safeStorage } from 'electron'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { Keychain, KeychainState } from '#electron/host/shell/shell.ts'

const failed = (what: string, why: string): { ok: false; error: Failure } =>
  fail({ code: 'KEYCHAIN', what, why, unaffected: 'Keys in the agent, and passphrases that are typed.' })
const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e)).slice(0, 500)

export function keychain(platform: NodeJS.Platform = process.platform): Keychain {
  async function state(): Promise<KeychainState> {
    try {
      const backend = platform === 'linux' ? safeStorage.getSelectedStorageBackend() : 'system'
      if (backend === 'basic_text' || backend === 'unknown') {
        return { can: false, why: 'this desktop has no keychain (Secret Service or KWallet)' }
      }
      if (!(await safeStorage.isAsyncEncryptionAvailable())) return { can: false, why: 'the keychain is locked' }
      return { can: true, why: '' }
    } catch (e) {
      return { can: false, why: messageOf(e) }
    }
  }
  async function whereReal<T>(what: string, act: () => Promise<T>): Promise<Result<T>> {
    const { can, why } = await state()
    if (!can) return failed(what, why)
    try {
      return ok(await act())
    } catch (e) {
      return failed(what, messageOf(e))
    }
  }
  return {
    state,
    seal: (text) =>
      whereReal('The passphrase was not stored', async () => {
        const sealed = await safeStorage.encryptStringAsync(text)
        return sealed.toString('base64')
      }),
    open: (sealed) =>
      whereReal('The stored passphrase was not read', async () => {
        const { result } = await safeStorage.decryptStringAsync(Buffer.from(sealed, 'base64'))
        return result
      }),
  }
}
