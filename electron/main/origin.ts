/** Origin of the desktop shell's pages, and checks for it. */

/** Scheme and host of the window's pages. */
export const APP_SCHEME = 'app'
export const APP_HOST = 'sluice'
export const APP_ORIGIN = `${APP_SCHEME}://${APP_HOST}`

/** True if an address belongs to the window's origin. URL.origin is 'null' for custom schemes, so the parts are compared. */
export function isAppAddress(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && url.protocol === `${APP_SCHEME}:` && url.host === APP_HOST
}

/** The part of an Electron frame that identifies it. */
export interface FrameLike {
  readonly url: string
  readonly parent: unknown
}

/** True if a message came from the top frame of Sluice's own page; a frame that no longer exists is null. */
export function isAppFrame(frame: FrameLike | null): boolean {
  return frame !== null && frame.parent === null && isAppAddress(frame.url)
}
