/** Root permissions of a login on a server, as listed by `sudo -n -l`. */

/**
 * root: logged in as root. read: only lctl's readings. write: readings, and rules through the helper or set_param of
 * rules. broad: any command, or any lctl. none: nothing without a password; numbers read without root are wrong on
 * recent releases.
 */
export type SudoKind = 'root' | 'read' | 'write' | 'broad' | 'none'

/** Command that sudo runs as root without a password, or with `isDenied` never. */
export interface SudoGrant {
  /** Path pattern of the program; `ALL`. */
  readonly program: string
  /** Pattern of its arguments joined by blanks; undefined: any; empty: none allowed. */
  readonly args: string | undefined
  readonly isDenied: boolean
}

export interface SudoScope {
  readonly kind: SudoKind
  /** Text for display: the grants, or the message of sudo. */
  readonly text: string
  /** Warning although it works; empty for none. */
  readonly watch: string
  /** Set if rules are written by the helper, which accepts only Sluice's own rules. */
  readonly hasHelper: boolean
  /** Path of the helper in sudoers; empty without one. */
  readonly helper: string
  /** Path of sluice-read in sudoers; undefined without it. */
  readonly reader?: string | undefined
  /** Path of lctl in sudoers. */
  readonly lctl: string
  /** Grants for lctl and the helper, in the order of sudoers: the last match counts. Bounded. */
  readonly grants: readonly SudoGrant[]
}

/** Default path of lctl. */
export const LCTL_PATH = '/usr/sbin/lctl'
/** Path of the helper in the sudoers samples. */
export const HELPER_PATH = '/usr/local/sbin/sluice-rule'

/** Path of the streaming reader in the sudoers samples. */
export const READER_PATH = '/usr/local/sbin/sluice-read'

/** Scope of a login as root. */
export const ROOT_SCOPE: SudoScope = {
  kind: 'root',
  text: 'logged in as root',
  watch:
    'Writing as root takes allow_root: true for the cluster. A separate login with the sudoers sample is safer than root.',
  hasHelper: false,
  helper: '',
  lctl: LCTL_PATH,
  grants: [],
}

/** Scope of a login without sudo rights. */
export const noScope = (text: string, lctl = LCTL_PATH): SudoScope => ({
  kind: 'none',
  text,
  watch: '',
  hasHelper: false,
  helper: '',
  lctl,
  grants: [],
})
