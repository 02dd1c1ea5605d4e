/** The one origin whose pages belong to the desktop shell, and who speaks from it. */

/** Scheme and host of the window's pages. */
export const APP_SCHEME = 'app'
export const APP_HOST = 'sluice'
export const APP_ORIGIN = `${APP_SCHEME}://${APP_HOST}`

/** Whether an address lies in the window's own origin. URL.origin is 'null' for own schemes, so the parts are compared. */
export function isOurs(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && url.protocol === `${APP_SCHEME}:` && url.host === APP_HOST
}

/** The part of an Electron frame that tells who it is. */
export interface FrameLike {
  readonly url: string
  readonly parent: unknown
}

/** Whether a message came from the top frame of our own page; a frame that is gone by now is null. */
export function isOurFrame(frame: FrameLike | null): boolean {
  return frame !== null && frame.parent === null && isOurs(frame.url)
}
