//! Placeholder until the schedule is merged.
pub(crate) fn cost(size: i64) -> i64 {
    size.max(0).saturating_add(4096)
}
pub(crate) struct Plan {
    pub(crate) ids: Vec<i64>,
    pub(crate) left: u64,
}
pub(crate) fn plan(
    catalog: &crate::Catalog,
    root: &crate::Root,
    selection: &crate::Selection,
    now: i64,
) -> Result<Plan, crate::CatalogError> {
    let _ = (selection, now);
    let mut ids = Vec::new();
    crate::store::rows::State::for_each(&catalog.db, |s| {
        if s.root == root.id() {
            ids.push(s.id)
        }
        Ok(())
    })?;
    Ok(Plan { ids, left: 0 })
}
