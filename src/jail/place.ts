/**
 * Where guests find things. In a view of files of their own everything has a fixed path; without one (level
 * `restricted`) they see the host's own paths, and a folder of the run's own on its disk.
 */
export interface Place {
  /** The run's own folder on the host's disk; null where the view of files is the guests' own. */
  readonly work: string | null
  /** Working folder and HOME of guests. */
  readonly workspace: string
  /** Where programs put what they need for a moment. */
  readonly temporary: string
}

/** In a mount namespace. */
export const ownView: Place = { work: null, workspace: '/workspace', temporary: '/tmp' }

/** On the host's own files: `work` is a path that nobody else uses. */
export function hostView(work: string): Place {
  return { work, workspace: `${work}/workspace`, temporary: `${work}/tmp` }
}

/** The path at which guests find what is bound. */
export function pathIn(place: Place, bind: { readonly host: string; readonly guest: string }): string {
  return place.work === null ? bind.guest : bind.host
}
