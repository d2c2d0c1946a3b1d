//! Where does a server of the transport of 2024-11-05 take messages? It says so on a stream that a GET opens.

use super::Session;
use super::state::State;
use crate::peer::Outgoing;

impl Session {
    /// Tries the transport of 2024-11-05: a stream that says where messages go. Whether there is one.
    pub async fn fall_back(&self) -> bool {
        let Some(exchange) = self.state().begin_stream() else { return false };
        let number = exchange.number;
        if self.hand_over(Outgoing::Exchange(exchange)).await.is_err() {
            return false;
        }
        let told = |state: &State| {
            let http = state.http.as_ref()?;
            (http.old || http.is_over(number) || state.gone().is_some()).then_some(())
        };
        self.wait(self.bounds.request, told).await;
        let is_old = self.state().http.as_ref().is_some_and(|http| http.old);
        if !is_old {
            let _ = self.abandon_exchange(number).await;
        }
        is_old
    }
}

impl State {
    /// The old transport says where messages go. What leads to another host is not followed.
    pub(super) fn point_to(&mut self, exchange: u64, endpoint: &str) {
        let Some(http) = &mut self.http else { return };
        let is_get = http.carried(exchange).is_none();
        if let (true, Some(target)) = (is_get, target_of(&http.target, endpoint)) {
            http.target = target;
            http.old = true;
        }
    }
}

/// The path and query of an endpoint that is named by a URI, relative or not.
fn target_of(base: &str, endpoint: &str) -> Option<String> {
    let endpoint = endpoint.trim();
    if endpoint.starts_with('/') {
        return Some(endpoint.to_owned());
    }
    if let Ok(uri) = endpoint.parse::<hyper::Uri>()
        && uri.scheme().is_some()
    {
        return uri.path_and_query().map(|target| target.as_str().to_owned());
    }
    let folder = base.split('?').next().unwrap_or_default();
    let folder = &folder[..=folder.rfind('/')?];
    Some(match endpoint.strip_prefix('?') {
        Some(_) => format!("{}{endpoint}", base.split('?').next().unwrap_or_default()),
        None => format!("{folder}{endpoint}"),
    })
}
